/** Prefixes of public ids and credentials. */
export const ID_PREFIX = {
  project: 'proj_',
  api_key: 'key_',
  client: 'cl_',
  token: 'tok_',
  operator: 'op_',
  session: 'sess_',
  audit_entry: 'aud_',
  customer: 'cust_',
  campaign: 'camp_',
  voucher: 'v_',
  transaction: 'vtx_',
  product: 'prod_',
  reward: 'rew_',
  reward_assignment: 'rewa_',
  reward_redemption: 'rewr_',
  redemption: 'r_',
  event: 'evcus_',
  webhook: 'wh_',
  distribution: 'distr_',
  delivery: 'whs_',
  publication: 'pub_',
  process: 'proc_',
  notice: 'ntc_',
} as const

/** Credentials have a prefix and a checksum, so that secret scanners find leaked ones. */
export const CREDENTIAL_PREFIX = {
  app_token: 'jta_',
  management_token: 'jtm_',
  access_token: 'jtn_',
  login_code: 'jtl_',
  session: 'jts_',
} as const

/** Prefix of Standard Webhooks. No checksum, because the secret is never sent to Jeton. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_'

/** More layers than proxies and backends decode. Text with more layers is masked as a whole. */
const MAX_DECODINGS = 5

function decoded(text: string, times = 0): string | undefined {
  if (times > MAX_DECODINGS) return undefined
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return plain === text ? plain : decoded(plain, times + 1)
}

/** Masks a credential in one word, in any percent-encoding, with the rest of the word. */
function withoutCredential(word: string): string {
  if (!word.includes('%')) return word.replace(/(jt[almns]|whsec)_.+/i, '$1_•••')
  const plain = decoded(word)
  if (plain === undefined) return '•••'
  const [, prefix] = /(jt[almns]|whsec)_./i.exec(plain) ?? []
  return prefix ? `${prefix}_•••` : word
}

/** Masks credentials in text of a request that is logged or returned. */
export const withoutCredentials = (text: string): string => text.replace(/[\w%-]+/g, withoutCredential)

/** The first twelve bytes of a token's digest, six of them its time: unique, and found by the primary key. */
export const tokenIdOf = (digest: Uint8Array): string =>
  ID_PREFIX.token + Buffer.from(digest.subarray(0, 12)).toString('hex')
