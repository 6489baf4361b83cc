import { projectId } from './fill.ts'
import { managed, type Service } from './service.ts'

/** Time of one list over several requests. */
export interface ListTime {
  readonly path: string
  readonly medianMs: number
  readonly p95Ms: number
}

/** The project with the most rows. */
const P = `/projects/${projectId(1)}`
const PAGED = { first: '', 'page 20': 'page=20', 'a hundred': 'limit=100' }
const HALF_WAY = 45 * 86_400_000

/** Lists of the management API, with their filters, as the console and the command line read them. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  '/projects': ['name=Project%2010'],
  [`${P}/api-keys`]: [
    'state=blocked',
    'state=deleted',
    'name=Key%2010',
    'app_id=00000000-0000-4000-8000-000000000010',
  ],
  [`${P}/tokens`]: [],
  [`${P}/events`]: ['entity=cust_0000000000000010', 'undelivered=true', 'CURSOR', 'RANGE'],
  [`${P}/deliveries`]: [
    ...['status=delivered', 'status=exhausted', 'status=pending', 'state=failing', 'http_status=503'],
    ...['error=503', `destination=wh_0000000000010000`, 'CURSOR', 'RANGE', 'status=delivered&CURSOR'],
  ],
  [`${P}/webhooks`]: ['active=false'],
  [`${P}/distributions`]: ['active=false', 'name=Destination%205'],
  [`${P}/campaigns`]: [],
  [`${P}/customers`]: [],
  '/audit-log': ['action=api_key.created', 'actor=scale', 'subject=key_0000000000000010', 'CURSOR'],
  [`${P}/audit-log`]: ['action=api_key.created', 'CURSOR', 'RANGE'],
  [`${P}/refusals`]: [],
  '/operators': [],
  '/sessions': [],
  '/processes': [],
}

/** Answers that are no lists and that the console reads on its overview pages. */
const OVERVIEWS = [
  ...['/attention', `${P}/attention`, '/queue', '/store', '/usage?metric=calls', `${P}/token-usage`],
  ...[`${P}/usage?metric=calls&by=key`, `${P}/usage?metric=deliveries&by=destination`],
]

function queriesOf(filters: readonly string[], now: number): string[] {
  const middle = now - HALF_WAY
  const range = `from=${new Date(middle).toISOString()}&to=${new Date(middle + 86_400_000).toISOString()}`
  return [...Object.values(PAGED), ...filters].map((query) =>
    query.replace('CURSOR', `cursor=${middle}.x`).replace('RANGE', range),
  )
}

export function listPaths(now: number): string[] {
  const lists = Object.entries(LISTS).flatMap(([path, filters]) =>
    queriesOf(filters, now).map((query) => (query === '' ? path : `${path}?${query}`)),
  )
  return [...lists, ...OVERVIEWS]
}

export const rankOf = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!

/** One request at a time, so that no list waits for another. */
export async function timeLists(
  service: Service,
  paths: readonly string[],
  rounds: number,
): Promise<number[][]> {
  const times = paths.map((): number[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [i, path] of paths.entries()) {
      const startedAt = performance.now()
      await service.send([managed('GET', path)], 1)
      times[i]!.push(performance.now() - startedAt)
    }
  return times
}
