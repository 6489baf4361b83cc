import { newId, newTimedId, randomBytes } from '../../server/src/platform/secrets.ts'
import type { Card } from '../prepare-loyalty.ts'
import type { Recording, Statement } from './record.ts'

/** What is above it is a time, in milliseconds; counts and points stay below. */
const TIMES_FROM = 1e12
const ID = /^[a-z]+_[0-9A-Za-z]{16}([0-9A-Za-z]{3})?$/

/** The same statements for the `nth` redemption (from 0) by another card, which was in the same state as the first one. */
export type Fresh = (card: Card, nth: number) => Recording

/**
 * Two redemptions by one card tell what changes from one to the next: ids are made anew, counts and balances go on by
 * the same step, times are now. The rest is the same for all cards, but for what names the card.
 */
export function freshParameters([first, second]: readonly [Recording, Recording], own: Card): Fresh {
  const sameText = first.every(({ sql }, i) => sql === second[i]?.sql)
  if (!sameText || first.length !== second.length)
    throw new Error('Two redemptions made different statements.')
  const made = madeIds(first, second)
  const anyName = new RegExp([own.id, own.code, own.holderId, ...made].join('|'), 'g')
  return (card, nth) => {
    const names = new Map([
      [own.id, card.id],
      [own.code, card.code],
      [own.holderId, card.holderId],
      ...made.map((id): [string, string] => [id, another(id)]),
    ])
    const renamed = (text: string) => text.replace(anyName, (name) => names.get(name)!)
    const fresh = (value: unknown, later: unknown): unknown => {
      if (typeof value === 'string') return renamed(value)
      if (typeof value !== 'number') return value
      return value > TIMES_FROM ? Date.now() : value + ((later as number) - value) * nth
    }
    return first.map(({ sql, parameters }, i) => ({
      sql,
      parameters: parameters.map((value, place) => fresh(value, second[i]!.parameters[place])),
    }))
  }
}

/** Of the same kind: those that begin with the time are longer. */
function another(id: string): string {
  const prefix = id.slice(0, id.indexOf('_') + 1)
  const plain = newId(randomBytes, prefix)
  return plain.length === id.length ? plain : newTimedId(randomBytes, prefix, Date.now())
}

const flat = (recording: Recording) => recording.flatMap(({ parameters }: Statement) => parameters)

function madeIds(first: Recording, second: Recording): string[] {
  const later = flat(second)
  const differing = flat(first).filter((value, i) => value !== later[i])
  return [...new Set(differing)].filter(
    (value): value is string => typeof value === 'string' && ID.test(value),
  )
}
