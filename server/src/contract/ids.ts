/** Prefixes of the ids and credentials that outsiders see. One noun, one prefix. */
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
} as const

/** Credentials carry a prefix and a checksum, so that scanners find leaked ones. */
export const CREDENTIAL_PREFIX = {
  app_token: 'jta_',
  management_token: 'jtm_',
  access_token: 'jtn_',
  login_code: 'jtl_',
  session: 'jts_',
} as const

/** As Standard Webhooks spells it; without a checksum, since it is never presented to us. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_'

/** More than proxies and backends do; whatever is still encoded then is masked as a whole. */
const MAX_DECODINGS = 5

function decoded(text: string, times = 0): string | undefined {
  if (times > MAX_DECODINGS) return undefined
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return plain === text ? plain : decoded(plain, times + 1)
}

/** One word of a text: a credential is masked however it is percent-encoded, and what follows it in the word as well. */
function withoutCredential(word: string): string {
  if (!word.includes('%')) return word.replace(/(jt[almns]|whsec)_.+/i, '$1_•••')
  const plain = decoded(word)
  if (plain === undefined) return '•••'
  const [, prefix] = /(jt[almns]|whsec)_./i.exec(plain) ?? []
  return prefix ? `${prefix}_•••` : word
}

/** For what is written down or said back of a request: a credential that someone put where none belongs is not repeated. */
export const withoutCredentials = (text: string): string => text.replace(/[\w%-]+/g, withoutCredential)

/** Twelve bytes of a token's digest, six of them its time: enough to be unique, and found by the primary key without a column of its own. */
export const tokenIdOf = (digest: Uint8Array): string =>
  ID_PREFIX.token + Buffer.from(digest.subarray(0, 12)).toString('hex')
