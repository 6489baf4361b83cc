import type { Command } from 'commander'
import { didYouMean } from '../platform/closest.ts'
import { openSession, type Session } from './call-api.ts'
import { nameServer } from './connection.ts'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import { exampleText, plain, shellWord } from './format.ts'
import { type Io, printLine, remark } from './io.ts'
import { addClientOptions, asClient, type ClientOptions } from './key-pair.ts'
import type { EventHead } from './live/event-feed.ts'
import {
  type Call,
  memberPath,
  type Offer,
  offeredReward,
  offersTo,
  type Redeemed,
  redeemedLine,
} from './redeem.ts'
import { type List, projectId } from './resolve.ts'

interface TriggerOptions extends ClientOptions {
  readonly member?: string
  readonly reward?: string
}

const KINDS = ['redemption']
/** The card of the sample. Any other card may belong to a real customer, so it must be passed explicitly. */
const SAMPLE_MEMBER = 'SAMPLE-1'
const SAMPLE_RESTOCK = 40

/** Causes an event by a real redemption. */
export async function trigger(io: Io, what: string, options: TriggerOptions): Promise<void> {
  if (!KINDS.includes(what))
    throw wrongUsage(
      `${JSON.stringify(what)} cannot be triggered.${didYouMean(what, KINDS)} Available: ${KINDS.join(', ')}.`,
    )
  const session = openSession(io, options)
  const { call } = asClient(session, options)
  const member = options.member ?? SAMPLE_MEMBER
  const flags = session.sameFlags + (options.appId ? ` --app-id ${shellWord(options.appId)}` : '')
  const offer = chosen(await offersFor(call, { member, flags }), { member, reward: options.reward })
  nameServer(io, session.connection)
  await makePossible(io, call, { member, offer })
  const body = { reward: { id: offer.id } }
  const answer = await call({ method: 'POST', path: `${memberPath(member)}/redemption`, body })
  const redeemed = answer.json as Redeemed
  const events = await eventsOf(session, { entity: redeemed.customer_id, requestId: answer.requestId })
  if (options.json) return printLine(io, answer.text)
  if (!options.quiet) printLine(io, plain(redeemedLine(redeemed)))
  for (const { id, type } of events) printLine(io, options.quiet ? id : `${id}   ${plain(type)}`)
  if (!options.quiet) printNextSteps(session, events)
}

async function offersFor(call: Call, { member, flags }: { member: string; flags: string }): Promise<Offer[]> {
  try {
    return await offersTo(call, member)
  } catch (error) {
    if (!(error instanceof CommandFailure && error.status === 404)) throw error
    throw new CommandFailure(
      `There is no card ${JSON.stringify(member)} in the project of this key. Pass another with --member.\n${await cardsHint(call, flags)}`,
      EXIT.notFound,
    )
  }
}

/** How to find a card. The key may lack the permission to read campaigns. */
async function cardsHint(call: Call, flags: string): Promise<string> {
  const answer = await call({ method: 'GET', path: '/v1/campaigns', query: { limit: '1' } }).catch(() => null)
  const [campaign] = (answer?.json as { campaigns?: { name: string }[] } | undefined)?.campaigns ?? []
  return campaign
    ? `Cards of its newest campaign: jeton member list --campaign ${shellWord(campaign.name)}${flags}`
    : 'The project has no campaign that this key can read.'
}

/** The given reward, or the first one that needs no order. */
function chosen(
  offers: readonly Offer[],
  { member, reward }: { member: string; reward?: string | undefined },
): Offer {
  if (reward !== undefined) return offeredReward(offers, { member, reward })
  const possible = offers.filter(({ type }) => type !== 'COIN')
  const found = possible.find(({ stock }) => stock !== 0) ?? possible[0]
  if (found) return found
  throw new CommandFailure(
    `${member} cannot redeem any reward without an order. Assign one to its campaign: POST /v1/rewards/{rewardId}/assignments`,
    EXIT.notFound,
  )
}

/** Adds missing points and stock with a note, so that the command can be repeated. */
async function makePossible(
  io: Io,
  call: Call,
  { member, offer: { id, name, price, stock } }: { member: string; offer: Offer },
): Promise<void> {
  const path = memberPath(member)
  const { balance } = ((await call({ method: 'GET', path })).json as { loyalty_card: { balance: number } })
    .loyalty_card
  if (balance < price) {
    const points = price - balance
    await call({ method: 'POST', path: `${path}/balance`, body: { points } })
    remark(io, `${member} had ${balance} points; added ${points}.`)
  }
  if (stock === 0 && member === SAMPLE_MEMBER) {
    await call({ method: 'PUT', path: `/v1/rewards/${id}`, body: { stock: SAMPLE_RESTOCK } })
    remark(io, `${plain(name)} was out of stock; set the stock to ${SAMPLE_RESTOCK}.`)
  }
}

/** The events of the redemption, which are written in the same transaction. Reading them requires an operator. */
async function eventsOf(
  session: Session,
  { entity, requestId }: { entity: string; requestId: string },
): Promise<EventHead[]> {
  try {
    const path = `/management/v1/projects/${await projectId(session)}/events`
    const { data } = (await session.call({ method: 'GET', path, query: { entity, limit: '20' } }))
      .json as List
    return (data as unknown as EventHead[]).filter(({ group_id }) => group_id === requestId)
  } catch (error) {
    if (error instanceof CommandFailure) return []
    throw error
  }
}

function printNextSteps({ io, connection, sameFlags }: Session, [event]: readonly EventHead[]): void {
  if (event) {
    remark(io, `Its deliveries: jeton delivery list --event ${event.id}${sameFlags}`)
    remark(
      io,
      `Receive it on this machine: jeton listen --forward-to localhost:3000/hook --since 5m${sameFlags}`,
    )
  } else if (connection.hasCredential())
    remark(io, 'The event is in the project of the given key. To see it, pass that project with --project.')
  else remark(io, `To see the event, sign in: jeton login --url ${connection.url}`)
}

export function addTrigger(program: Command, io: Io): void {
  const command = program
    .command('trigger')
    .summary('cause an event: redeem a reward with the sample card')
    .description(
      'Redeems a reward, which writes an event, and prints the result. Missing points are added first.',
    )
    .argument('[what]', 'redemption', 'redemption')
    .option('--member <code>', 'another card than the one of the sample')
    .option('--reward <reward>', 'id or name of a reward that the member can redeem (default: the first)')
    .addHelpText('after', exampleText(['jeton trigger redemption']))
  addClientOptions(command)
    .optionsGroup('Output')
    .option('--json', 'raw response to the redemption')
    .option('--quiet', 'event ids only')
  command.action((what, options) => trigger(io, what, options))
}
