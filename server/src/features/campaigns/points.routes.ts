import { Type } from 'typebox'
import type { Database, Transaction } from '../../platform/database/index.ts'
import {
  type App,
  type BodyOf,
  namedList,
  namedListOf,
  PageQuery,
  pageOf,
  shownAs,
  sourceIdField,
  textField,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { withIdempotencyKey } from '../idempotency/index.ts'
import { changePoints } from './change-points.ts'
import { cardNameOf, MEMBER_PATHS, MemberParams } from './member.routes.ts'
import { listEntryRows } from './point-entry.store.ts'
import { activityView, balanceView, transactionView } from './point-entry.ts'
import { type CardName, requireCard, requireLockedCard } from './require-card.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
}

const Balance = Type.Object({
  points: Type.Integer(),
  total: Type.Integer(),
  balance: Type.Integer(),
  type: Type.Literal('loyalty_card'),
  object: Type.Literal('balance'),
  related_object: Type.Object({ type: Type.Literal('voucher'), id: Type.String() }),
})

const BalanceBody = Type.Object({
  points: Type.Integer({
    minimum: -Number.MAX_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    not: { const: 0 },
    description: 'Points to add, or to remove if negative. Not 0.',
  }),
  // Points never expire in Jeton. A request that asks for expiry is refused instead of ignored.
  expiration_type: Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      enum: ['PROGRAM_RULES', 'NON_EXPIRING'],
      'x-says': 'must be one of: PROGRAM_RULES, NON_EXPIRING, because points do not expire',
    }),
  ),
  expiration_date: Type.Optional(
    Type.Unsafe<null>({ enum: [null], 'x-says': 'must be omitted, because points do not expire' }),
  ),
  reason: textField(500),
  source_id: sourceIdField,
})

type BalanceRequest = BodyOf<typeof BalanceBody>

async function changeBalance(
  deps: Deps,
  tx: Transaction,
  { name, body, requestId }: { name: CardName; body: BalanceRequest; requestId: string },
) {
  const { card } = await requireLockedCard(tx, name)
  const { points, reason, source_id: sourceId } = body
  const type = points > 0 ? ('POINTS_ADDITION' as const) : ('POINTS_REMOVAL' as const)
  const { entry } = await changePoints(deps, tx, {
    card,
    change: { type, points, reason, sourceId, requestId },
  })
  return balanceView(entry)
}

export function pointsRoutes(app: App, deps: Deps): void {
  for (const memberPath of MEMBER_PATHS) {
    addBalance(app, deps, memberPath)
    addLedger(app, deps, memberPath)
  }
}

type MemberPath = (typeof MEMBER_PATHS)[number]

function addBalance(app: App, deps: Deps, { path, suffix }: MemberPath): void {
  app.post(
    `${path}/balance`,
    {
      config: { access: 'scope' },
      schema: {
        tags: ['members'],
        operationId: `member.balance${suffix}`,
        summary: 'Add points to a card, or remove points',
        description: 'Send an `Idempotency-Key` to make a retry safe.',
        params: MemberParams,
        body: BalanceBody,
        response: { 200: shownAs(Balance) },
      },
    },
    async (request, reply) => {
      const { projectId, params, body, id: requestId } = request
      const name = cardNameOf(projectId, params)
      const text = await withIdempotencyKey(deps, request, (tx) =>
        changeBalance(deps, tx, { name, body, requestId }),
      )
      return reply.type('application/json; charset=utf-8').send(text as never)
    },
  )
}

const LEDGERS = [
  {
    end: 'transactions',
    says: 'List all point changes of a card, newest first',
    item: transactionView,
  },
  { end: 'activity', says: 'List the activity of a card, newest first', item: activityView },
] as const

function addLedger(app: App, deps: Deps, { path, suffix }: MemberPath): void {
  for (const { end, says, item } of LEDGERS)
    app.get(
      `${path}/${end}`,
      {
        config: { access: 'scope' },
        schema: {
          tags: ['members'],
          operationId: `member.${end}${suffix}`,
          summary: says,
          params: MemberParams,
          querystring: Type.Object(PageQuery),
          response: { 200: namedListOf('data', Type.Any()) },
        },
      },
      async ({ projectId, params, query }) => {
        const page = pageOf(query)
        const { card } = await requireCard(deps.db, cardNameOf(projectId, params))
        const rows = await listEntryRows(deps.db, { projectId, voucherId: card.id }, page)
        return namedList('data', rows, { page, item })
      },
    )
}
