import { ID_PREFIX } from '../contract/ids.ts'
import { didYouMean } from '../platform/closest.ts'
import { type Answer, type ApiRequest, callApi } from './call-api.ts'
import { plain } from './cells.ts'
import { type ConnectionOptions, nameServer } from './connection.ts'
import { curlLine } from './curl.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import { type KeyPairOptions, keyPair } from './key-pair.ts'
import type { Resource } from './pages.ts'
import { plural } from './plural.ts'
import type { Output } from './print-answer.ts'
import { printFields, printTable } from './print-table.ts'
import { openSession, type Session } from './session.ts'

export interface ClientOptions extends Output, KeyPairOptions, ConnectionOptions {
  readonly project?: string
  readonly curl?: boolean
}

export type Call = (request: ApiRequest) => Promise<Answer>

/** Calls as an API client, in the project that all commands work on. */
export async function openClient(session: Session, options: KeyPairOptions): Promise<Call> {
  const { connection } = session
  const { credential } = await keyPair(session, options)
  return (request) => callApi({ ...connection, url: connection.apiUrl }, { ...request, credential })
}

/** True where only the curl command was wanted. */
function printedCurl({ io, connection }: Session, request: ApiRequest, options: ClientOptions): boolean {
  if (options.curl) printLine(io, curlLine(connection.apiUrl, { ...request, credential: {} }))
  return options.curl === true
}

interface ListOptions extends ClientOptions {
  readonly limit?: string
  readonly page?: string
  readonly campaign?: string
}

export async function list(
  io: Io,
  noun: { name: string; path: string; columns: readonly string[] },
  options: ListOptions,
): Promise<void> {
  const { limit, page, campaign = '' } = options
  const query = { ...(limit && { limit }), ...(page && { page }) }
  const path = noun.path.replace('{campaign}', encodeURIComponent(campaign))
  const request = { method: 'GET', path, query }
  const session = openSession(io, options)
  if (printedCurl(session, request, options)) return
  const answer = await (await openClient(session, options))(request)
  if (options.json) return printLine(io, answer.text)
  const found = answer.json as { data_ref: string; total: number } & Record<string, Resource[]>
  const rows = found[found.data_ref]!
  if (options.quiet) for (const row of rows) printLine(io, String(row.code ?? row.id))
  else if (rows.length > 0) printTable(io, noun.columns, rows.map(withPoints))
  else if (io.isTTY) remark(io, `No ${plural(noun.name)}.`)
  if (rows.length > 0 && rows.length < found.total)
    remark(io, `${rows.length} of ${found.total}. More: --limit or --page`)
}

/** The one number that people look for, out of where the platform keeps it. */
const withPoints = (row: Resource): Resource => ({
  ...row,
  points: (row.loyalty as { points?: number } | undefined)?.points,
  balance: (row.loyalty_card as { balance?: number } | undefined)?.balance,
})

export async function show(io: Io, path: string, typed: string, options: ClientOptions): Promise<void> {
  const request = { method: 'GET', path: path + encodeURIComponent(typed) }
  const session = openSession(io, options)
  if (printedCurl(session, request, options)) return
  const answer = await (await openClient(session, options))(request)
  if (options.json) return printLine(io, answer.text)
  const { object: _, ...fields } = answer.json as Resource
  if (options.quiet) printLine(io, String(fields.code ?? fields.id))
  else printFields(io, fields)
}

export const memberPath = (code: string): string => `/v1/loyalties/members/${encodeURIComponent(code)}`

export interface Redeemed {
  readonly id: string
  readonly customer_id: string
  readonly amount: number
  readonly voucher: { readonly loyalty_card: { readonly balance: number } }
  readonly reward: { readonly name: string; readonly voucher?: { readonly code: string } }
}

export async function redeem(
  io: Io,
  typed: { member: string; reward: string },
  options: ClientOptions,
): Promise<void> {
  const path = memberPath(typed.member)
  const requestFor = (id: string) => ({
    method: 'POST',
    path: `${path}/redemption`,
    body: { reward: { id } },
  })
  // An id needs no looking up, so that the curl command can be had without a server.
  const session = openSession(io, options)
  if (typed.reward.startsWith(ID_PREFIX.reward) && printedCurl(session, requestFor(typed.reward), options))
    return
  const call = await openClient(session, options)
  const rewardId = offeredReward(await offersTo(call, typed.member), typed).id
  if (printedCurl(session, requestFor(rewardId), options)) return
  nameServer(io, session.connection)
  const answer = await call(requestFor(rewardId))
  if (options.json) return printLine(io, answer.text)
  const done = answer.json as Redeemed
  printLine(io, options.quiet ? done.id : redeemedLine(done))
}

export function redeemedLine({ id, amount, voucher, reward }: Redeemed): string {
  const code = reward.voucher ? `, code ${reward.voucher.code}` : ''
  return `${id}   ${reward.name}${code}   ${amount} points, ${voucher.loyalty_card.balance} left`
}

/** A reward that a member can get. */
export interface Offer {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly stock: number | null
  /** In points. */
  readonly price: number
}

export async function offersTo(call: Call, member: string): Promise<Offer[]> {
  const answer = await call({ method: 'GET', path: `${memberPath(member)}/rewards`, query: { limit: '100' } })
  const { data } = answer.json as {
    data: {
      reward: Omit<Offer, 'price'>
      assignment: { parameters: { loyalty?: { points?: number } } | null }
    }[]
  }
  return data.map(({ reward, assignment }) => ({
    ...reward,
    price: assignment.parameters?.loyalty?.points ?? 0,
  }))
}

/** By id, or by a name that only one of the member's rewards has. */
export function offeredReward(
  offers: readonly Offer[],
  { member, reward }: { member: string; reward: string },
): Offer {
  const named = offers.filter(({ id, name }) => id === reward || name === reward)
  if (named.length === 1) return named[0]!
  if (named.length > 1)
    throw new CommandFailure(
      `${named.length} rewards are named ${JSON.stringify(reward)}. Say which by its id: ${named.map(({ id }) => id).join(', ')}`,
      EXIT.usage,
    )
  const names = offers.map(({ name }) => name)
  const hint = didYouMean(reward, names) || ` ${offered(offers)}`
  throw new CommandFailure(`${member} cannot get ${JSON.stringify(reward)}.${hint}`, EXIT.notFound)
}

const NAMED_MOST = 5

/** What the member can get instead. */
function offered(offers: readonly Offer[]): string {
  if (offers.length === 0) return 'No reward is assigned to its campaign.'
  const named = offers.slice(0, NAMED_MOST).map(({ name, price }) => `${plain(name)} (${price} points)`)
  const more = offers.length > NAMED_MOST ? ` and ${offers.length - NAMED_MOST} more: jeton reward list` : '.'
  return `It can get: ${named.join(', ')}${more}`
}
