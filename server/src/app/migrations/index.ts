import type { Migration } from '../../platform/database/index.ts'
import { foundation } from './0001-foundation.ts'
import { loyalty } from './0002-loyalty.ts'
import { events } from './0003-events.ts'
import { deliveries } from './0004-deliveries.ts'
import { lists } from './0005-lists.ts'
import { byteOrder } from './0006-byte-order.ts'
import { tokensByTime } from './0007-tokens-by-time.ts'
import { waitingEvents } from './0008-waiting-events.ts'
import { issue } from './0009-issue.ts'
import { tokensInOrder } from './0010-tokens-in-order.ts'
import { knownKeys } from './0011-known-keys.ts'
import { shortDeliveries } from './0012-short-deliveries.ts'
import { failingDeliveries } from './0013-failing-deliveries.ts'
import { tokenCounts } from './0014-token-counts.ts'
import { issueBatch } from './0015-issue-batch.ts'
import { outbox } from './0016-outbox.ts'
import { operatorRoles } from './0017-operator-roles.ts'
import { sessions } from './0018-sessions.ts'
import { processes } from './0019-processes.ts'
import { failedDeliveries } from './0020-failed-deliveries.ts'
import { usage } from './0021-usage.ts'
import { usageRows } from './0022-usage-rows.ts'
import { notices } from './0023-notices.ts'
import { webhookNames } from './0024-webhook-names.ts'
import { refusedCalls } from './0025-refused-calls.ts'
import { customerNames } from './0026-customer-names.ts'
import { traces } from './0027-traces.ts'
import { largeStores } from './0028-large-stores.ts'

/** In the order of application. A migration that has been released is never changed. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  loyalty,
  events,
  deliveries,
  lists,
  byteOrder,
  tokensByTime,
  waitingEvents,
  issue,
  tokensInOrder,
  knownKeys,
  shortDeliveries,
  failingDeliveries,
  outbox,
  tokenCounts,
  issueBatch,
  operatorRoles,
  sessions,
  processes,
  failedDeliveries,
  usage,
  usageRows,
  notices,
  webhookNames,
  refusedCalls,
  customerNames,
  traces,
  largeStores,
]
