import { ERRORS } from '../src/contract/error-keys.ts'

/** Generates `docs/reference/errors.md`. */
export function documentErrors(): string {
  const rows = Object.entries(ERRORS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(
      ([key, { status, oauth, when, remedy }]) =>
        `| ${status} | \`${key}\` | \`${oauth}\` | ${when} | ${remedy} |`,
    )
  return `# Errors

<!-- Generated from server/src/contract/error-keys.ts by \`npm run generate\`. Do not edit. -->

Every error has the same body:

| field | meaning |
|---|---|
| \`code\` | the HTTP status |
| \`key\` | a stable name for the error |
| \`message\` | what is wrong |
| \`details\` | what to do |
| \`request_id\` | id of the request, also in the header \`X-Request-Id\` |
| \`doc_url\` | the page about this error |
| \`resource_id\`, \`resource_type\` | the resource, if the error is about one |
| \`error\`, \`error_description\` | RFC 6749, on OAuth endpoints |

For 24 hours an operator can look up why a request was refused (401, 403, 429): \`jeton explain <request_id>\`.

| status | key | OAuth \`error\` | when | what to do |
|---|---|---|---|---|
${rows.join('\n')}
`
}
