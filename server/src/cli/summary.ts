import type { FirstStart } from '../app/first-start.ts'
import { shellWord } from './shell-word.ts'

export interface StartFacts {
  readonly version: string
  readonly readyMs: number
  readonly url: string
  readonly managementUrl: string
  readonly store: string
  readonly workers: number
  /** Made by this start, or null where the data was there. */
  readonly first: FirstStart
  readonly existing: {
    readonly projects: number
    readonly keys: number
    readonly activeTokens: number
  } | null
  /** Where the operator's credential was saved. */
  readonly savedIn: string | undefined
  /** The server that commands go to, where the credential was saved in the profile. */
  readonly defaultServer: string | undefined
  readonly hasOperator: boolean
  /** Holds the secret of the sample's key where it must not be printed; undefined in a terminal, which shows secrets. */
  readonly tokenFile: string | undefined
}

const WIDTH = 80
const row = (name: string, text: string): string => `  ${name.padEnd(12)}${text}`
const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function head({ version, readyMs, url }: StartFacts): string {
  const left = `  Jeton ${version}   ready in ${Math.round(readyMs)} ms`
  return `${left}${url.padStart(WIDTH - left.length)}`
}

const NEW_SECRET = 'a new secret at any time: npx jeton key regenerate Quickstart'

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
      row('', 'operator and API key, for `npx jeton`; only you can read it'),
      ...otherDefault(facts),
    )
  return lines
}

/** A first start beside another server does not take its commands away. */
function otherDefault({ defaultServer, managementUrl }: StartFacts): string[] {
  if (defaultServer === undefined || defaultServer === managementUrl) return []
  return [
    row('commands', `still go to ${defaultServer}. To send them to this server:`),
    row('', `export JETON_URL=${managementUrl}`),
  ]
}

function secrets({ first, hasOperator, managementUrl }: StartFacts): string[] {
  if (!hasOperator)
    return [
      row('operator', 'none yet. Create one, in a shell with the same settings:'),
      row('', `npx jeton operator create --local --save --url ${managementUrl}`),
    ]
  if (first.operator || first.sample) return []
  return [
    row('secrets', 'were shown when they were made. How to get new ones:'),
    row('', 'npx jeton help key regenerate · npx jeton help operator create'),
  ]
}

function shownOnce({ operator, sample }: FirstStart): string[] {
  const lines: string[] = operator || sample ? ['', '  Shown once'] : []
  if (operator) lines.push(row('operator', `${operator.id}  ${operator.token}`))
  if (sample) lines.push(row('API key', `${sample.appId}  ${sample.appToken}`), row('', NEW_SECRET))
  return lines
}

function thingsToTry({ first, url, tokenFile }: StartFacts): string[] {
  if (!first.sample) return []
  const { appId, member, rewardId } = first.sample
  const appToken = tokenFile === undefined ? first.sample.appToken : `$(cat ${shellWord(tokenFile)})`
  return [
    '',
    '  1  Get a token. It lives 900 seconds.',
    '',
    `     curl -s ${url}/v1/oauth/token \\`,
    `       -H "X-App-Id: ${appId}" \\`,
    `       -H "X-App-Token: ${appToken}" \\`,
    '       -d grant_type=client_credentials -d scope="loyalties rewards"',
    '',
    '  2  See all of it work in 20 seconds:       npx jeton tour',
    '     with every request printed:             npx jeton tour --verbose',
    '',
    '  3  Redeem a mug for 100 points; TOKEN is the access_token of step 1.',
    '',
    `     curl -s ${url}/v1/loyalties/members/${member}/redemption \\`,
    '       -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\',
    `       -d '{"reward":{"id":"${rewardId}"}}'`,
    '',
    '  4  Receive events on this machine, and cause one:',
    '',
    '     npx jeton listen --forward-to localhost:3000/hook',
    '     npx jeton trigger redemption',
    '',
    '  5  See the key and its tokens:             npx jeton key list',
    '  6  Block it, and its tokens are dead:      npx jeton key block Quickstart',
    '     It may issue new ones again:            npx jeton key unblock Quickstart',
  ]
}

/** What a person sees when the service has started: at most 80 columns but for credentials and paths, and nothing twice. */
export function summary(facts: StartFacts): string {
  const { first, existing, managementUrl, store, workers } = facts
  const created = first.operator || first.sample
  const lines = ['', head(facts), '', row('reference', `${managementUrl}/docs`)]
  lines.push(
    row(
      'store',
      created
        ? `${store}, created now. Nothing else to install.`
        : `${store}${existing ? `: ${contents(existing)}` : ''}`,
    ),
  )
  if (workers > 1) lines.push(row('workers', `${workers} processes on one port`))
  if (first.sample)
    lines.push(row('sample', '"Sample": a key, a customer with 500 points, 40 mugs at 100 points'))
  lines.push(...secrets(facts), ...credentials(facts), ...thingsToTry(facts))
  return `${[...lines, '', '  Ctrl-C stops it. The data stays.', ''].join('\n')}\n`
}

const contents = (existing: NonNullable<StartFacts['existing']>): string =>
  `${plural(existing.projects, 'project')}, ${plural(existing.keys, 'key')}, ${plural(existing.activeTokens, 'active token')}`
