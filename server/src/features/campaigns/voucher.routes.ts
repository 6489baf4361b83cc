import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import type { Database, Reader, Transaction } from '../../platform/database/index.ts'
import {
  type App,
  dateField,
  dateOf,
  given,
  IdParam,
  type Metadata,
  metadataField,
  metadataText,
  shownAs,
} from '../../platform/http/index.ts'
import { checkDates } from './campaign.ts'
import { requireCampaign } from './save-campaign.ts'
import { findVoucher, lockVouchers, updateVoucherRow, type VoucherRow } from './voucher.store.ts'
import { Voucher, voucherView } from './voucher.ts'

interface Deps {
  readonly db: Database
}

interface VoucherFields {
  readonly active?: boolean
  readonly start_date?: string | null
  readonly expiration_date?: string | null
  readonly metadata?: Metadata | null
}

async function requireVoucher(reader: Reader, projectId: string, code: string): Promise<VoucherRow> {
  const row = await findVoucher(reader, projectId, code)
  if (!row) throw notFound('voucher', code)
  return row
}

async function changeVoucher(
  tx: Transaction,
  { projectId, code, fields }: { projectId: string; code: string; fields: VoucherFields },
): Promise<VoucherRow> {
  const { id } = await requireVoucher(tx, projectId, code)
  const before = (await lockVouchers(tx, projectId, [id])).get(id)
  if (!before) throw notFound('voucher', code)
  const columns = {
    // A card without a holder stays inactive: nobody may use it.
    active: fields.active === undefined || before.holder_id === null ? undefined : Number(fields.active),
    starts_at: dateOf(fields.start_date, 'start_date'),
    expires_at: dateOf(fields.expiration_date, 'expiration_date'),
    metadata: fields.metadata === undefined ? undefined : metadataText(fields.metadata),
    updated_at: await tx.now(),
  }
  const change = given(columns, Object.keys(columns) as (keyof typeof columns)[]) as Partial<VoucherRow>
  const after = { ...before, ...change }
  checkDates(after)
  await updateVoucherRow(tx, before, change)
  return after
}

/** Reads a loyalty card or voucher by its code, and changes whether and until when it is valid. */
export function voucherRoutes(app: App, deps: Deps): void {
  const config = { access: 'scope' } as const
  const tags = ['vouchers']
  const Params = Type.Object({ code: IdParam })
  const shown = async (row: VoucherRow) =>
    voucherView(row, await requireCampaign(deps.db, { projectId: row.project_id, idOrName: row.campaign_id }))

  app.get(
    '/v1/vouchers/:code',
    {
      config,
      schema: {
        tags,
        operationId: 'voucher.show',
        summary: 'Read a voucher or loyalty card by its code',
        params: Params,
        response: { 200: shownAs(Voucher) },
      },
    },
    async ({ projectId, params }) => shown(await requireVoucher(deps.db, projectId, params.code)),
  )

  app.put(
    '/v1/vouchers/:code',
    {
      config,
      schema: {
        tags,
        operationId: 'voucher.update',
        summary: 'Change whether and when a voucher or loyalty card is valid',
        params: Params,
        body: Type.Object({
          active: Type.Optional(Type.Boolean()),
          start_date: dateField,
          expiration_date: dateField,
          metadata: metadataField,
        }),
        response: { 200: shownAs(Voucher) },
      },
    },
    async ({ projectId, params, body: fields }) =>
      shown(await deps.db.transaction((tx) => changeVoucher(tx, { projectId, code: params.code, fields }))),
  )
}
