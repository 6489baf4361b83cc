import type { FirstStart } from '../app/first-start.ts'
import { COUNT_TO } from '../platform/database/index.ts'
import { shellWord } from './format.ts'

export interface StartFacts {
  readonly version: string
  readonly readyMs: number
  readonly url: string
  readonly managementUrl: string
  readonly store: string
  readonly workers: number
  /** Operator and sample that this start created. */
  readonly first: FirstStart
  readonly existing: {
    readonly projects: number
    readonly keys: number
    readonly activeTokens: number
  } | null
  /** Where the operator's credential was saved. */
  readonly savedIn: string | undefined
  /** The default server of the profile, if the credential was saved there. */
  readonly defaultServer: string | undefined
  readonly hasOperator: boolean
  readonly hasConsole: boolean
  /** Signs a browser in once. Only at a first start in a terminal. */
  readonly consoleLink: string | undefined
  /** File with the secret of the sample's key; undefined in a terminal, which shows the secret. */
  readonly tokenFile: string | undefined
}

const WIDTH = 80
const row = (name: string, text: string): string => `  ${name.padEnd(12)}${text}`
const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function head({ version, readyMs, url }: StartFacts): string {
  const left = `  Jeton ${version}   ready in ${Math.round(readyMs)} ms`
  return `${left}${url.padStart(WIDTH - left.length)}`
}

const NEW_SECRET = 'replace the secret: jeton key regenerate Quickstart'

function credentials(facts: StartFacts): string[] {
  const { first, savedIn, tokenFile } = facts
  const { operator, sample } = first
  const lines = tokenFile === undefined ? shownOnce(first) : []
  if (sample && tokenFile !== undefined)
    lines.push('', row('API key', sample.appId), row('its secret', tokenFile), row('', NEW_SECRET))
  if (operator)
    lines.push(
      '',
      row('saved', savedIn!),
      row('', 'operator and API key for the command line; only you can read it'),
      ...otherDefault(facts),
    )
  return lines
}

/** A first start does not change the default server. */
function otherDefault({ defaultServer, managementUrl }: StartFacts): string[] {
  if (defaultServer === undefined || defaultServer === managementUrl) return []
  return [
    row('commands', `still go to ${defaultServer}. To use this server:`),
    row('', `export JETON_URL=${managementUrl}`),
  ]
}

function secrets({ first, hasOperator, managementUrl }: StartFacts): string[] {
  if (!hasOperator)
    return [
      row('operator', 'none yet. Create one in a shell with the same settings:'),
      row('', `jeton operator create --local --save --url ${managementUrl}`),
    ]
  if (first.operator || first.sample) return []
  return [
    row('secrets', 'were shown at creation. To replace them:'),
    row('', 'jeton help key regenerate · jeton help operator create'),
  ]
}

function shownOnce({ operator, sample }: FirstStart): string[] {
  const lines: string[] = operator || sample ? ['', '  Shown once'] : []
  if (operator) lines.push(row('operator', `${operator.id}  ${operator.token}`))
  if (sample) lines.push(row('API key', `${sample.appId}  ${sample.appToken}`), row('', NEW_SECRET))
  return lines
}

function nextSteps({ first, url, tokenFile }: StartFacts): string[] {
  if (!first.sample) return []
  const { appId, member, rewardId } = first.sample
  const appToken = tokenFile === undefined ? first.sample.appToken : `$(cat ${shellWord(tokenFile)})`
  return [
    '',
    '  1  Issue a token. It is valid for 900 seconds.',
    '',
    `     curl -s ${url}/v1/oauth/token \\`,
    `       -H "X-App-Id: ${appId}" \\`,
    `       -H "X-App-Token: ${appToken}" \\`,
    '       -d grant_type=client_credentials -d scope="loyalties rewards"',
    '',
    '  2  Check the server, in about a second:       jeton tour',
    '     with every request printed:                jeton tour --verbose',
    '',
    '  3  Redeem a mug for 100 points. TOKEN is the access_token of step 1.',
    '',
    `     curl -s ${url}/v1/loyalties/members/${member}/redemption \\`,
    '       -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\',
    `       -d '{"reward":{"id":"${rewardId}"}}'`,
    '',
    '  4  Receive events on this machine, and cause one:',
    '',
    '     jeton listen --forward-to localhost:3000/hook',
    '     jeton trigger redemption',
    '',
    '  5  List the keys:                             jeton key list',
    '  6  Block a key; its tokens stop working:      jeton key block Quickstart',
    '     Unblock it; it can issue new tokens:       jeton key unblock Quickstart',
  ]
}

function consoleRows({ hasConsole, consoleLink, managementUrl }: StartFacts): string[] {
  if (!hasConsole) return []
  if (consoleLink === undefined) return [row('console', `${managementUrl}/console/`)]
  return [row('console', consoleLink), row('', 'signs a browser in once, within 15 minutes')]
}

/** The output of a start for people: at most 80 columns, except for credentials and paths. */
export function summary(facts: StartFacts): string {
  const { first, existing, managementUrl, store, workers } = facts
  const created = first.operator || first.sample
  const lines = ['', head(facts), '', ...consoleRows(facts), row('reference', `${managementUrl}/docs`)]
  lines.push(
    row(
      'store',
      created
        ? `${store}, created now. Nothing else to install.`
        : `${store}${existing ? `: ${contents(existing)}` : ''}`,
    ),
  )
  if (workers > 1) lines.push(row('workers', `${workers} HTTP processes on one port`))
  if (first.sample)
    lines.push(row('sample', '"Sample": a key, a customer with 500 points, 40 mugs at 100 points'))
  lines.push(...secrets(facts), ...credentials(facts), ...nextSteps(facts))
  return `${[...lines, '', '  Ctrl-C stops the service. The data stays.', ''].join('\n')}\n`
}

/** A start does not wait until a million keys are counted. */
const counted = (count: number, noun: string): string =>
  count < COUNT_TO ? plural(count, noun) : `${COUNT_TO} or more ${noun}s`

const contents = (existing: NonNullable<StartFacts['existing']>): string =>
  `${counted(existing.projects, 'project')}, ${counted(existing.keys, 'key')}, ${counted(existing.activeTokens, 'active token')}`
