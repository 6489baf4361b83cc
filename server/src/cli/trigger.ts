import { didYouMean } from '../platform/closest.ts'
import { plain } from './cells.ts'
import { nameServer } from './connection.ts'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import { type Io, printLine, remark } from './io.ts'
import type { EventHead } from './live/event-feed.ts'
import {
  type Call,
  type ClientOptions,
  memberPath,
  type Offer,
  offeredReward,
  offersTo,
  openClient,
  type Redeemed,
  redeemedLine,
} from './loyalty.ts'
import type { List } from './pages.ts'
import { projectId } from './resolve.ts'
import { openSession, type Session } from './session.ts'
import { shellWord } from './shell-word.ts'

interface TriggerOptions extends ClientOptions {
  readonly member?: string
  readonly reward?: string
}

const KINDS = ['redemption']
/** Of the first start's sample. Any other card may be that of a real customer, so it has to be named. */
const SAMPLE_MEMBER = 'SAMPLE-1'
const SAMPLE_RESTOCK = 40

/** Causes an event, by doing for real what it tells of. */
export async function trigger(io: Io, what: string, options: TriggerOptions): Promise<void> {
  if (!KINDS.includes(what))
    throw wrongUsage(
      `${JSON.stringify(what)} cannot be triggered.${didYouMean(what, KINDS)} There is: ${KINDS.join(', ')}.`,
    )
  const session = openSession(io, options)
  const call = await openClient(session, options)
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
  if (!options.quiet) sayWhatNext(session, events)
}

async function offersFor(call: Call, { member, flags }: { member: string; flags: string }): Promise<Offer[]> {
  try {
    return await offersTo(call, member)
  } catch (error) {
    if (!(error instanceof CommandFailure && error.status === 404)) throw error
    throw new CommandFailure(
      `There is no card ${JSON.stringify(member)} in the project of this key. Name another with --member.\n${await cardsHint(call, flags)}`,
      EXIT.notFound,
    )
  }
}

/** How to find a card. The key may not be permitted to read campaigns. */
async function cardsHint(call: Call, flags: string): Promise<string> {
  const answer = await call({ method: 'GET', path: '/v1/campaigns', query: { limit: '1' } }).catch(() => null)
  const [campaign] = (answer?.json as { campaigns?: { name: string }[] } | undefined)?.campaigns ?? []
  return campaign
    ? `Cards of its newest campaign: jeton member list --campaign ${shellWord(campaign.name)}${flags}`
    : 'The project has no campaign that this key can read.'
}

/** Named, or the first that needs no order. */
function chosen(
  offers: readonly Offer[],
  { member, reward }: { member: string; reward?: string | undefined },
): Offer {
  if (reward !== undefined) return offeredReward(offers, { member, reward })
  const possible = offers.filter(({ type }) => type !== 'COIN')
  const found = possible.find(({ stock }) => stock !== 0) ?? possible[0]
  if (found) return found
  throw new CommandFailure(
    `${member} can get no reward that needs no order. Assign one to its campaign: POST /v1/rewards/{rewardId}/assignments`,
    EXIT.notFound,
  )
}

/** Adds what is missing, so that it works however often it is typed; and says so. */
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
    remark(io, `${member} had ${balance} points; ${points} were added.`)
  }
  if (stock === 0 && member === SAMPLE_MEMBER) {
    await call({ method: 'PUT', path: `/v1/rewards/${id}`, body: { stock: SAMPLE_RESTOCK } })
    remark(io, `Nothing was left of ${plain(name)}; now there are ${SAMPLE_RESTOCK}.`)
  }
}

/** Written with the redemption, so they are there by now. A key pair alone cannot read them. */
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

function sayWhatNext({ io, connection, sameFlags }: Session, [event]: readonly EventHead[]): void {
  if (event) {
    remark(io, `See it arrive: jeton delivery list --event ${event.id}${sameFlags}`)
    remark(io, `On this machine: jeton listen --forward-to localhost:3000/hook --since 5m${sameFlags}`)
  } else if (connection.hasCredential())
    remark(io, 'Its event is in the project of the given key. Name that project with --project to see it.')
  else remark(io, `To see its event, sign in: jeton login --url ${connection.url}`)
}
