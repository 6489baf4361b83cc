import type { Command } from 'commander'
import { ID_PREFIX } from '../contract/ids.ts'
import { didYouMean } from '../platform/closest.ts'
import { type ApiRequest, curlLine, openSession, type Session } from './call-api.ts'
import { nameServer } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { exampleText, plain } from './format.ts'
import { type Io, printLine } from './io.ts'
import { addClientOptions, asClient, type ClientOptions } from './key-pair.ts'
import { addOutputOptions } from './print-answer.ts'

export function addRedeem(program: Command, io: Io): void {
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

export type Call = Session['call']

/** True if `--curl` was given and the command is printed. */
function printedCurl({ io, connection }: Session, request: ApiRequest, options: ClientOptions): boolean {
  if (options.curl) printLine(io, curlLine(connection.apiUrl, { ...request, credential: {} }))
  return options.curl === true
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
  const { call } = asClient(session, options)
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
