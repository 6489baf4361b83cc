/** A request of the management API, as people copy it. */
export interface ShownRequest {
  readonly method?: string
  /** Below `/management/v1`, with its ids. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
}

/** A value as one word of the shell. */
export const shellWord = (text: string): string =>
  /^[\w.:/@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

function queryText(query: ShownRequest['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text && `?${text}`
}

/** Never contains a credential: the shell fills it in. */
export function curlText({ method = 'GET', path, query, body }: ShownRequest): string {
  const url = shellWord(`${location.origin}/management/v1${path}${queryText(query)}`)
  const lines = [
    `curl -s ${method === 'GET' ? '' : `-X ${method} `}${url}`,
    '-H "X-Management-Id: $JETON_MANAGEMENT_ID" -H "X-Management-Token: $JETON_MANAGEMENT_TOKEN"',
  ]
  if (body !== undefined)
    lines.push(`-H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

/** Flags of the command line: empty ones are left out. */
export function cliText(
  command: string,
  flags: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined && value !== '')
  return [`jeton ${command}`, ...given.map(([name, value]) => `--${name} ${shellWord(String(value))}`)].join(
    ' ',
  )
}
