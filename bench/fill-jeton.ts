import { newToken } from '../server/src/features/tokens/token.ts'
import { randomBytes } from '../server/src/platform/secrets.ts'
import { type Filler, fillerOf } from './filler.ts'
import type { JetonClient } from './prepare-jeton.ts'
import type { Store } from './stores.ts'
import { SCOPE, TOKEN_SECONDS } from './subjects/protocol.ts'

/** The oldest of the tokens that are put there has this long to live: more than any measurement takes. */
const LEFT_SECONDS = 600
/** Takes from every project as many credits as it was given tokens. */
const takeCredits = (filler: Filler, each: number): Promise<void> =>
  filler.run(`update projects set credits = token_limit - ${each}`)

/** As many active tokens for every key, of which nobody knows the value: in turn, as traffic would have left them. */
export async function fillTokens(store: Store, each: number): Promise<void> {
  const filler = fillerOf(store)
  if (each > 0) {
    const first = Math.floor(Date.now() / 1000) + LEFT_SECONDS
    const expiry = `(${first} + n.i * ${TOKEN_SECONDS - LEFT_SECONDS} / ${each}) * cast(1000 as bigint)`
    const issued = `${expiry} - ${TOKEN_SECONDS * 1000}`
    const insert = (digest: string, from: string) =>
      `insert into tokens (project_id, digest, key_id, epoch, scope, expires_at)
        select k.project_id, ${digest}, k.id, k.epoch, '${SCOPE}', ${expiry} from ${from} cross join api_keys k order by n.i`
    await filler.run(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${each - 1})
        ${insert(`unhex(format('%012x', ${issued}) || hex(randomblob(32)))`, 'n')}`,
      insert(
        `decode(lpad(to_hex(${issued}), 12, '0'), 'hex') || sha256(convert_to(gen_random_uuid()::text, 'UTF8'))`,
        `generate_series(0, ${each - 1}) as n(i)`,
      ),
    )
    await takeCredits(filler, each)
  }
  await filler.close()
}

/** The same, but with values that are returned, in the order of the clients: those of the first client come first. */
export async function fillKnownTokens(
  store: Store,
  clients: readonly JetonClient[],
  each: number,
): Promise<string[]> {
  const filler = fillerOf(store)
  const expires_at = (Math.floor(Date.now() / 1000) + LEFT_SECONDS) * 1000
  const tokens: string[] = []
  for (const { projectId: project_id, keyId: key_id } of clients) {
    const own = Array.from({ length: each }, () => newToken(randomBytes, project_id, Date.now()))
    const row = { project_id, key_id, epoch: 1, scope: SCOPE, expires_at }
    await filler.insert(own.map(({ digest }) => ({ ...row, digest })))
    tokens.push(...own.map(({ accessToken }) => accessToken))
  }
  await takeCredits(filler, each)
  await filler.close()
  return tokens
}
