import { idOf, type Records } from './records.ts'

/** A list as it is asked for. */
export interface Asked {
  readonly name: string
  readonly path: string
  readonly as: 'operator' | 'client'
  /** How many entries it must show. */
  readonly rows: number
  /** Asked for by the cursor of the page that begins at this time. */
  readonly after?: string
}

const LIMIT = 100

interface Filter {
  readonly name: string
  readonly query: string
  /** How many there are of it, where a page would hold more. */
  readonly rows?: number
  /** A time that has two pages of it behind it; none where everything fits on two. */
  readonly far?: number
}

/** The first page, one far down by its cursor, and one between two times. */
function turned(records: Records, what: string, path: string, filters: readonly Filter[]): Asked[] {
  const { firstAt, stepMs, count } = records
  const time = (part: number) => new Date(firstAt + Math.floor(count * part) * stepMs).toISOString()
  return filters.flatMap(({ name, query, rows = LIMIT, far }) => {
    const all = { as: 'operator', path: `${path}?limit=${LIMIT}${query}`, rows } as const
    const label = name ? `${what} ${name}` : what
    const first = { ...all, name: label }
    if (far === undefined) return [first]
    const times = `&from=${time(0)}&to=${time(far)}`
    return [
      first,
      { ...all, name: `${label}, far page`, after: time(far) },
      { ...all, name: `${label}, between two times`, path: all.path + times },
    ]
  })
}

/** Lists without a cursor have pages by number, to the thousandth. */
function numbered(what: string, path: string, options: Pick<Asked, 'as'> & { far: number }): Asked[] {
  const all = { as: options.as, path, rows: LIMIT }
  return [
    { ...all, name: what },
    { ...all, name: `${what}, page ${options.far}`, path: `${path}&page=${options.far}` },
  ]
}

/** Every list and filter over what grows with traffic, and those of tokens and API keys beside it. */
export function listsOf(records: Records): Asked[] {
  const { projectId, count } = records
  const project = `/management/v1/projects/${projectId}`
  const customer = idOf('cust_', 0)
  const few = idOf('cust_', 1)
  const fewRows = Math.min(LIMIT, count / 10_000)
  const far = 0.1
  const lastPage = Math.min(1_000, count / LIMIT)
  const usual = '&kind=customer.reward_redemptions.completed'
  return [
    ...turned(records, 'events', `${project}/events`, [
      { name: '', query: '', far },
      { name: 'of the usual kind', query: usual, far },
      { name: 'of a rare kind', query: '&kind=webhook.test' },
      { name: 'of a customer with half of them', query: `&entity=${customer}`, far },
      { name: 'of another customer', query: `&entity=${few}`, rows: fewRows },
      { name: 'of a customer and a kind', query: `&entity=${customer}${usual}`, far },
      { name: 'of a customer and a rare kind', query: `&entity=${few}&kind=webhook.test`, rows: 1 },
    ]),
    ...numbered('events', `${project}/events?limit=${LIMIT}`, { as: 'operator', far: lastPage }).slice(1),
    ...turned(records, 'deliveries', `${project}/deliveries`, [
      { name: '', query: '', far },
      ...['pending', 'delivered', 'held', 'cancelled'].map((status) => ({
        name: `that are ${status}`,
        query: `&status=${status}`,
        far: status === 'delivered' ? 0.2 : 0.99,
      })),
      { name: 'that are exhausted', query: '&status=exhausted', far: 0.015 },
      { name: 'of a destination', query: `&destination=${idOf('whk_', 7)}`, far: 0.8 },
      {
        name: 'of a destination and a status',
        query: `&destination=${idOf('whk_', 7)}&status=delivered`,
        far: 0.8,
      },
      { name: 'of an event', query: `&event=${idOf('evt_', 7)}`, rows: 1 },
    ]),
    ...numbered('publications', `/v1/publications?limit=${LIMIT}`, { as: 'client', far: lastPage }),
    ...numbered('publications of a customer', `/v1/publications?limit=${LIMIT}&customer=${customer}`, {
      as: 'client',
      far: lastPage / 2,
    }),
    ...['', project].flatMap((scope) =>
      turned(
        records,
        scope ? 'audit log of a project' : 'audit log',
        `${scope || '/management/v1'}/audit-log`,
        [
          { name: '', query: '', far },
          { name: 'by the usual action', query: '&action=api_key.updated', far },
          { name: 'by a rare action', query: '&action=project.renamed', rows: scope ? 50 : 100 },
          { name: 'by the usual actor', query: '&actor=op_usual', far },
          { name: 'by a rare actor', query: '&actor=op_rare', rows: scope ? 50 : 100 },
          { name: 'by a subject', query: `&subject=${idOf('key_', 2)}`, rows: fewRows },
          { name: 'by actor and action', query: '&actor=op_usual&action=project.renamed', rows: 0 },
        ],
      ),
    ),
    ...numbered('tokens', `${project}/tokens?limit=${LIMIT}`, { as: 'operator', far: 10 }),
    ...numbered('tokens of a key', `${project}/tokens?limit=${LIMIT}&key=${records.keyId}`, {
      as: 'operator',
      far: 10,
    }),
    ...numbered('API keys', `${project}/api-keys?limit=${LIMIT}`, { as: 'operator', far: 10 }),
  ]
}
