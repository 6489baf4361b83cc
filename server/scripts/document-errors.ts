import { ERRORS } from '../src/contract/error-keys.ts'

/** The text of `docs/errors.md`. */
export function documentErrors(): string {
  const rows = Object.entries(ERRORS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(
      ([key, { status, oauth, when, remedy }]) =>
        `| ${status} | \`${key}\` | \`${oauth}\` | ${when} | ${remedy} |`,
    )
  return `# Errors

<!-- Generated from server/src/contract/error-keys.ts by \`npm run generate\`. Do not edit. -->

Every error has the same body: \`code\` (the HTTP status), \`key\` (stable), \`message\` (what is wrong), \`details\` (what to
do), \`request_id\` (also in the header \`X-Request-Id\`), \`doc_url\`, and \`resource_id\` and \`resource_type\` where a resource
is meant. OAuth endpoints add \`error\` and \`error_description\` of RFC 6749. An operator can look up why a request was
refused (401, 403, 429) for 24 hours: \`jeton explain <request_id>\`.

| status | key | OAuth \`error\` | when | what to do |
|---|---|---|---|---|
${rows.join('\n')}
`
}
