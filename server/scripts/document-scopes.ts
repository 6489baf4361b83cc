import { SCOPES } from '../src/contract/scopes.ts'

/** Generates `docs/reference/scopes.md`. */
export function documentScopes(): string {
  const rows = Object.entries(SCOPES).map(([scope, { side, segment }]) => {
    const prefix = side === 'server' ? '/v1' : '/client/v1'
    const paths =
      segment === '*' ? `everything under \`${prefix}/\`` : `\`${prefix}/${segment}\` and everything below it`
    return `| \`${scope}\` | ${paths} |`
  })
  return `# Scopes

<!-- Generated from server/src/contract/scopes.ts by \`npm run generate\`. Do not edit. -->

A scope is the permission for one part of the API. A key has scopes as its permissions, and a token has the scopes that were
requested for it. At every call both must cover the path.

- Scopes are case-sensitive and separated by single spaces: \`scope=loyalties rewards\`.
- \`api\` covers every scope under \`/v1\`, \`client_api\` every \`client_…\` scope. Neither covers the other.
- A key that is permitted \`api\` may request \`vouchers\`. A key that is permitted \`vouchers\` may not request \`api\`.
- The OAuth endpoints under \`/v1/oauth\` require no scope.

| scope | paths |
|---|---|
${rows.join('\n')}
`
}
