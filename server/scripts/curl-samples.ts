/** Parts of an operation that a sample uses. */
interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>
  }
}

/** Credentials are shell variables, with the names that the README and `--curl` use. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  managementId: 'X-Management-Id: $JETON_MANAGEMENT_ID',
  managementToken: 'X-Management-Token: $JETON_MANAGEMENT_TOKEN',
  appId: 'X-App-Id: $APP_ID',
  appToken: 'X-App-Token: $APP_TOKEN',
  bearer: 'Authorization: Bearer $TOKEN',
}

const FORM = 'application/x-www-form-urlencoded'

/** `campaignId` and `project_id` as `CAMPAIGN_ID` and `PROJECT_ID`. */
const variableOf = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()

/** Quotes with single quotes, except for variables. */
const quoted = (text: string): string =>
  `'${text.replaceAll("'", `'\\''`).replace(/\$[A-Z_]+/g, (name) => `'"${name}"'`)}'`

function dataLines(type: string, example: unknown): string[] {
  if (type !== FORM) return [`-H 'Content-Type: ${type}'`, `-d ${quoted(JSON.stringify(example))}`]
  return Object.entries(example as object).map(([name, value]) => `--data-urlencode "${name}=${value}"`)
}

/** Creates a request that can be run as it is; undefined if a body is required and the route has no example. */
export function curlSample(path: string, method: string, operation: Operation): string | undefined {
  const { security = [], parameters = [], requestBody } = operation
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const example = media?.example
  if (requestBody?.required && example === undefined) return undefined
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => `$${variableOf(name)}`)
  const query = parameters
    .filter((one) => one.in === 'query' && one.example !== undefined)
    .map(({ name, example: value }) => `${name}=${encodeURIComponent(String(value))}`)
  const isUsual = method === (example === undefined ? 'get' : 'post')
  const headers = parameters.filter((one) => one.in === 'header' && one.example !== undefined)
  return [
    `curl${isUsual ? '' : ` -X ${method.toUpperCase()}`} "$JETON_URL${url}${query.length > 0 ? `?${query.join('&')}` : ''}"`,
    ...Object.keys(security[0] ?? {}).map((scheme) => `-H "${CREDENTIALS[scheme]}"`),
    ...headers.map(({ name, example: value }) => `-H '${name}: ${value}'`),
    ...(example === undefined ? [] : dataLines(type!, example)),
  ].join(' \\\n  ')
}
