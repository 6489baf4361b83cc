import { CREDENTIAL_PREFIX } from '../../contract/ids.ts'
import { Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Actor, isoTime } from '../../platform/http/index.ts'
import { digestOf, newCredential, type RandomBytes, sameDigest } from '../../platform/secrets.ts'
import { recordChange } from '../audit/index.ts'
import { lockOperator } from './operator.store.ts'
import { insertLoginCode } from './session.store.ts'
import { LOGIN_CODE_MS } from './session.ts'

interface Request {
  readonly actor: Actor
  /** The token of the operator. Checked again under its lock, so that no code outlives a regeneration. */
  readonly token: string
  readonly lifetimeMs?: number
}

/** A code that starts one session of the operator. It is short-lived, since it travels in a link. */
export async function createLoginCode(
  deps: { readonly db: Database; readonly random: RandomBytes },
  { actor, token, lifetimeMs = LOGIN_CODE_MS }: Request,
): Promise<{ code: string; expires_at: string }> {
  const code = newCredential(deps.random, CREDENTIAL_PREFIX.login_code)
  return deps.db.transaction(async (tx) => {
    const operator = await lockOperator(tx, actor.id)
    if (!operator || !sameDigest(digestOf(token), operator.token_digest))
      throw new Problem('unauthorized', { message: 'The management credentials were not accepted.' })
    const expiresAt = (await tx.now()) + lifetimeMs
    await insertLoginCode(tx, { digest: digestOf(code), operator_id: operator.id, expires_at: expiresAt })
    const expires_at = isoTime(expiresAt)
    await recordChange(deps, tx, {
      actor,
      action: 'login_code.created',
      projectId: null,
      subject: { type: 'operator', id: operator.id },
      before: null,
      after: { expires_at },
    })
    return { code, expires_at }
  })
}
