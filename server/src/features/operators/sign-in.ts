import { CREDENTIAL_PREFIX, ID_PREFIX } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Database, Transaction } from '../../platform/database/index.ts'
import type { Actor, LoginThrottle } from '../../platform/http/index.ts'
import {
  digestOf,
  newCredential,
  newId,
  type RandomBytes,
  routingOf,
  sameDigest,
} from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { findOperator, lockOperator, type OperatorRow } from './operator.store.ts'
import { deleteSession, findLoginCode, insertSession, sessionsByUse, takeLoginCode } from './session.store.ts'
import { MAX_SESSION_MS, MAX_SESSIONS, type SessionRow, sessionView } from './session.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly attempts: LoginThrottle
}

export interface SignIn {
  readonly credential: { readonly id: string; readonly token: string } | { readonly code: string }
  readonly address: string | null
  readonly requestId: string
  /** Throws if the operator, whose credential is right, has signed in too often. */
  readonly admit: (operatorId: string) => void
  /** The cookie that the browser already has: its session is replaced. */
  readonly cookie: string | undefined
}

/** Same response for every wrong credential. Only the recorded step differs. */
const refused = (step: string): Problem =>
  new Problem('unauthorized', {
    message: 'The operator id and its token, or the code, were not accepted.',
    details:
      'A code works once, within 60 s. An operator can be created on the machine of the database: jeton operator create --local',
    refusal: { step },
  })

/** Compared with when the id is unknown, so that the answer takes as long. */
const NOBODY = digestOf('nobody')

/** Facts that were checked outside of the transaction and must still hold inside it. */
interface Proof {
  readonly operatorId: string
  /** True if the credential still counts; uses up a code. */
  holds(tx: Transaction, operator: OperatorRow): Promise<boolean>
  readonly failedStep: string
}

async function proofByToken(deps: Deps, { address }: SignIn, id: string, token: string): Promise<Proof> {
  const digest = digestOf(token)
  const operator = id.length <= 64 ? await findOperator(deps.db, id) : undefined
  const isRight = sameDigest(digest, operator?.token_digest ?? NOBODY)
  const failedStep = operator ? 'management_token_wrong' : 'management_id_unknown'
  if (!operator || !isRight)
    throw deps.attempts.recordFailure(address, `management ${id}`, refused(failedStep))
  return {
    operatorId: id,
    holds: async (_, { token_digest }) => sameDigest(digest, token_digest),
    failedStep: 'management_token_wrong',
  }
}

async function proofByCode(deps: Deps, { address }: SignIn, code: string): Promise<Proof> {
  const failedStep = 'login_code_wrong'
  const isWellFormed = routingOf(code, CREDENTIAL_PREFIX.login_code, 0) !== null
  const digest = digestOf(code)
  const row = isWellFormed ? await findLoginCode(deps.db, digest) : undefined
  if (!row || !sameDigest(digest, row.digest))
    throw deps.attempts.recordFailure(address, 'login code', refused(failedStep))
  const { operator_id: operatorId, expires_at } = row
  const holds = async (tx: Transaction) => (await tx.now()) < expires_at && (await takeLoginCode(tx, digest))
  return { operatorId, holds, failedStep }
}

/** Starts a session and returns the value of its cookie, which is always a new one. */
export async function signIn(deps: Deps, request: SignIn): Promise<{ session: SessionRow; cookie: string }> {
  const { credential } = request
  const proof =
    'code' in credential
      ? await proofByCode(deps, request, credential.code)
      : await proofByToken(deps, request, credential.id, credential.token)
  request.admit(proof.operatorId)
  const cookie = newCredential(deps.random, CREDENTIAL_PREFIX.session)
  const session = await deps.db.transaction(async (tx) => {
    // The lock keeps the operator from being deleted or regenerated before its session is there.
    const operator = await lockOperator(tx, proof.operatorId)
    if (!operator || !(await proof.holds(tx, operator))) return undefined
    return startSession(deps, tx, { ...request, operator, digest: digestOf(cookie) })
  })
  if (!session) throw deps.attempts.recordFailure(request.address, 'login code', refused(proof.failedStep))
  return { session, cookie }
}

interface Start extends SignIn {
  readonly operator: OperatorRow
  readonly digest: Uint8Array
}

async function startSession(
  deps: Deps,
  tx: Transaction,
  { operator, digest, cookie, address, requestId }: Start,
): Promise<SessionRow> {
  const now = await tx.now()
  if (cookie !== undefined) await deleteSession(tx, { digest: digestOf(cookie) })
  const others = await sessionsByUse(tx, operator.id, now)
  for (const { id } of others.slice(0, Math.max(0, others.length - MAX_SESSIONS + 1)))
    await deleteSession(tx, { id })
  const id = newId(deps.random, ID_PREFIX.session)
  const times = { created_at: now, last_used_at: now, expires_at: now + MAX_SESSION_MS }
  const row: SessionRow = { id, digest, operator_id: operator.id, address, ...times }
  await insertSession(tx, row)
  const actor: Actor = { type: 'operator', id: operator.id, address, requestId, via: 'token' }
  await recordChange(deps, tx, {
    actor,
    action: 'session.created',
    projectId: null,
    subject: { type: 'session', id },
    before: null,
    after: sessionView(row),
  })
  return row
}
