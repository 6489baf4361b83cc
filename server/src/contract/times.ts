/** Schema patterns of times. They reject days that a month does not have: JavaScript would read 30 February as 2 March. */
const NO_SUCH_DAY = '02-3|(0[2469]|11)-31'
const NO_LEAP_YEAR = '\\d\\d(\\d[13579]|[02468][26]|[13579][048])|([02468][1235679]|[13579][01345789])00'
const DATE = `(?!\\d{4}-(${NO_SUCH_DAY})|(${NO_LEAP_YEAR})-02-29)\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])`
const CLOCK = '([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?'
const OFFSET = '(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)'
/** Some clients of Voucherify omit the colon or the whole offset. */
const LOOSE_OFFSET = '(Z|[+-]([01]\\d|2[0-3]):?[0-5]\\d)?'

const rules = (pattern: string) => ({
  maxLength: 40,
  pattern: `^${pattern}$`,
  'x-says': 'must be a time such as 2026-11-15T14:00:00Z',
})

/** A point in time with its offset. */
export const TIME = rules(`${DATE}T${CLOCK}${OFFSET}`)
/** A point in time with its offset, or a day, which starts at midnight in UTC. */
export const DAY_OR_TIME = rules(`${DATE}(T${CLOCK}${OFFSET})?`)
/** A point in time or a day, in UTC if it has no offset. */
export const DAY_OR_LOOSE_TIME = rules(`${DATE}(T${CLOCK}${LOOSE_OFFSET})?`)
