import type { Command } from 'commander'
import { ID_PREFIX } from '../contract/ids.ts'
import { didYouMean } from '../platform/closest.ts'
import { type Answer, type ApiRequest, callApi, curlLine, openSession, type Session } from './call-api.ts'
import { type ConnectionOptions, nameServer } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { exampleText, plain, plural } from './format.ts'
import { type Io, printLine, remark } from './io.ts'
import { addClientOptions, type KeyPairOptions, keyPair } from './key-pair.ts'
import { printFields, printTable } from './print.ts'
import { addOutputOptions, type Output } from './print-answer.ts'
import type { Resource } from './resolve.ts'

interface LoyaltyNoun {
  readonly name: string
  readonly list: string
  readonly one: string
  readonly reference: string
  readonly columns: readonly string[]
}

/** Read-only commands for what API clients create. Only `jeton redeem` changes something. */
const NOUNS: readonly LoyaltyNoun[] = [
  {
    name: 'customer',
    list: '/v1/customers',
    one: '/v1/customers',
    reference: 'id or source_id',
    columns: ['id', 'source_id', 'name', 'email', 'points', 'created_at'],
  },
  {
    name: 'campaign',
    list: '/v1/campaigns',
    one: '/v1/campaigns',
    reference: 'id or name',
    columns: ['id', 'name', 'campaign_type', 'active', 'created_at'],
  },
  {
    name: 'member',
    list: '/v1/loyalties/{campaign}/members',
    one: '/v1/loyalties/members',
    reference: 'code of the card',
    columns: ['code', 'campaign', 'holder_id', 'balance', 'active', 'created_at'],
  },
  {
    name: 'reward',
    list: '/v1/rewards',
    one: '/v1/rewards',
    reference: 'id',
    columns: ['id', 'name', 'type', 'stock', 'redeemed', 'created_at'],
  },
]

export function addLoyaltyCommands(program: Command, io: Io): void {
  for (const noun of NOUNS) addNoun(program, io, noun)
  const redeemCommand = program
    .command('redeem')
    .summary('redeem a reward for points of a member')
    .description('Redeems a reward, as a shop does: takes the points from the card. It cannot be undone.')
    .argument('<member>', 'code of the card')
    .argument('<reward>', 'id or name of a reward that the member can redeem')
    .addHelpText('after', exampleText(['jeton redeem SAMPLE-1 Mug']))
  addOutputOptions(addClientOptions(redeemCommand))
  redeemCommand.action((member, reward, options) => redeem(io, { member, reward }, options))
}

function addNoun(program: Command, io: Io, { name, list, one, reference, columns }: LoyaltyNoun): void {
  const noun = program.commands.find((command) => command.name() === name) ?? program.command(name)
  const listCommand = noun
    .command('list')
    .summary(`List ${plural(name)}, newest first`)
    .option('--limit <number>', 'entries per page, 10 by default')
    .option('--page <number>', 'page, from 1')
  if (list.includes('{campaign}')) listCommand.requiredOption('--campaign <campaign>', 'id or name')
  addOutputOptions(addClientOptions(listCommand))
  listCommand.action((options) => printList(io, { name, path: list, columns }, options))

  const showCommand = noun.command('show').summary(`Read a ${name}`).argument(`<${name}>`, reference)
  addOutputOptions(addClientOptions(showCommand))
  showCommand.action((typed, options) => printOne(io, `${one}/`, typed, options))
}

export interface ClientOptions extends Output, KeyPairOptions, ConnectionOptions {
  readonly project?: string
  readonly curl?: boolean
}

export type Call = (request: ApiRequest) => Promise<Answer>

/** Calls the API with a key pair, in the chosen project. */
export async function openClient(session: Session, options: KeyPairOptions): Promise<Call> {
  const { connection } = session
  const { credential } = await keyPair(session, options)
  return (request) => callApi({ ...connection, url: connection.apiUrl }, { ...request, credential })
}

/** True if `--curl` was given and the command is printed. */
function printedCurl({ io, connection }: Session, request: ApiRequest, options: ClientOptions): boolean {
  if (options.curl) printLine(io, curlLine(connection.apiUrl, { ...request, credential: {} }))
  return options.curl === true
}

interface ListOptions extends ClientOptions {
  readonly limit?: string
  readonly page?: string
  readonly campaign?: string
}

async function printList(
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

/** Lifts points and balance out of their nested objects, for the table. */
const withPoints = (row: Resource): Resource => ({
  ...row,
  points: (row.loyalty as { points?: number } | undefined)?.points,
  balance: (row.loyalty_card as { balance?: number } | undefined)?.balance,
})

async function printOne(io: Io, path: string, typed: string, options: ClientOptions): Promise<void> {
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

async function redeem(
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
  // With an id nothing is looked up, so that --curl works without a server.
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

/** A reward that a member can redeem, with its price. */
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

/** Finds a reward by its id, or by a name that is unique among the member's rewards. */
export function offeredReward(
  offers: readonly Offer[],
  { member, reward }: { member: string; reward: string },
): Offer {
  const named = offers.filter(({ id, name }) => id === reward || name === reward)
  if (named.length === 1) return named[0]!
  if (named.length > 1)
    throw new CommandFailure(
      `${named.length} rewards are named ${JSON.stringify(reward)}. Use an id: ${named.map(({ id }) => id).join(', ')}`,
      EXIT.usage,
    )
  const names = offers.map(({ name }) => name)
  const hint = didYouMean(reward, names) || ` ${offered(offers)}`
  throw new CommandFailure(`${member} cannot redeem ${JSON.stringify(reward)}.${hint}`, EXIT.notFound)
}

const MAX_NAMED = 5

/** Lists the rewards that the member can redeem. */
function offered(offers: readonly Offer[]): string {
  if (offers.length === 0) return 'No reward is assigned to its campaign.'
  const named = offers.slice(0, MAX_NAMED).map(({ name, price }) => `${plain(name)} (${price} points)`)
  const more = offers.length > MAX_NAMED ? ` and ${offers.length - MAX_NAMED} more: jeton reward list` : '.'
  return `Available: ${named.join(', ')}${more}`
}
