import { auditWithNames, nameListedProject } from './audit-names.ts'
import type { Answer, ApiRequest, Session } from './call-api.ts'
import { CommandFailure, EXIT, ExitWith } from './exit.ts'
import type { Options } from './fields.ts'
import { shellWord } from './format.ts'
import { type Io, remark } from './io.ts'
import { recoverInBatches } from './recover.ts'
import { type List, projectName, type Resource } from './resolve.ts'
import type { Extra } from './resource-command.ts'

/** `operator create --local` writes to the store: for the first operator, and if all credentials are lost. */
const localCreation: Extra = {
  addOptions: (create) =>
    create
      .optionsGroup('On the machine with the store')
      .option('--local', 'write to the store directly, without a server')
      .option('--save', 'with --local: save the credential in your profile'),
  takesOver: (options) => options.local === true,
  run: async (io, options) => (await import('./local-commands.ts')).createLocalOperator(io, options),
}

const keyCreation: Extra = {
  before: refuseNameInUse,
  after: nameProject,
}

const auditList: Extra = {
  forPeople: auditWithNames,
  after: (session, _, options) => nameListedProject(session, options),
}

/** The longest wait that the API allows. */
const MAX_WAIT_MS = '5000'

interface Spread {
  readonly propagation: { readonly processes: number; readonly confirmed: number; readonly after_ms: number }
}

/** Says how many processes apply the change. Exit code 75 if it waited and one does not, for scripts. */
function reportSpread(io: Io, { json }: Answer, { wait, waitMs }: Options): void {
  const { processes, confirmed, after_ms: afterMs } = (json as Spread).propagation
  const count = `${confirmed} of ${processes} process${processes === 1 ? '' : 'es'}`
  const hasWaited = wait === true || Number(waitMs ?? 0) > 0
  const isComplete = confirmed === processes
  if (!hasWaited) {
    if (!isComplete)
      remark(io, `Applied by ${count} so far; the others follow within seconds. To wait: --wait`)
    return
  }
  remark(io, `Applied by ${count} after ${afterMs} ms.`)
  if (isComplete) return
  remark(
    io,
    'A process that cannot reach the store stops accepting tokens within 30 s. See: jeton process list',
  )
  throw new ExitWith(EXIT.tryAgain)
}

/** Additions to commands whose change other processes must learn of. */
const spreading: Extra = {
  addOptions: (command) =>
    command.option('--wait', 'wait up to 5 s until every process applies it; exit code 75 if one does not'),
  defaults: ({ wait }): Record<string, string> => (wait === true ? { wait_ms: MAX_WAIT_MS } : {}),
  conclude: reportSpread,
}

/** Refuses a second key with the same name, because commands find a key by its name. The API allows it. */
async function refuseNameInUse(session: Session, { path, body }: ApiRequest): Promise<void> {
  const { name } = body as { name: string }
  const { data } = (await session.call({ method: 'GET', path, query: { name } })).json as List
  const [existing] = data
  if (!existing) return
  const again = `jeton key regenerate ${shellWord(name)}${session.sameFlags}`
  throw new CommandFailure(
    `The project already has an API key named ${JSON.stringify(name)} (${existing.id}). Choose another name, or replace its secret: ${again}`,
    EXIT.refused,
  )
}

async function nameProject(session: Session, { json }: Answer): Promise<void> {
  const { name, project_id } = json as Resource
  const project = await projectName(session, String(project_id))
  remark(session.io, `Created API key ${JSON.stringify(name)} in project ${JSON.stringify(project)}.`)
}

interface TestedDelivery {
  readonly id: string
  readonly attempt: { readonly error: string | null } | null
}

/** Longer than an attempt, which takes 10 s at most. */
const TEST_WAIT_MS = '15000'

/** Exit code 1 if the attempt failed, for scripts. `--wait-ms 0` asks for no result. */
function failUnlessDelivered(io: Io, { json }: Answer, { waitMs }: Options): void {
  const { id, attempt } = json as TestedDelivery
  if (attempt?.error === null || (!attempt && waitMs === 0)) return
  remark(
    io,
    attempt
      ? `Failed: ${attempt.error}. Retry: jeton delivery retry ${id}`
      : `No attempt was made in time. Is a worker running? See: jeton delivery show ${id}`,
  )
  throw new ExitWith(EXIT.refused)
}

interface Recovered {
  readonly since: string | null
  readonly destination: string | null
  readonly dry_run: boolean
  readonly failing_left_out: number
}

/** Mentions failing deliveries, which are easily mistaken for exhausted ones. */
function noteLeftOut(io: Io, { json }: Answer, options: Options): void {
  const { since, destination, dry_run, failing_left_out: count } = json as Recovered
  if (count === 0) return
  const typed = (name: string, flag = name) => {
    const value = options[name]
    return value !== undefined && `--${flag} ${shellWord(String(value))}`
  }
  const flags = [
    since && `--since ${since}`,
    destination && `--destination ${destination}`,
    ...[typed('event'), typed('httpStatus', 'http-status'), typed('error'), typed('from'), typed('to')],
    '--include failing',
    dry_run && '--dry-run',
  ]
  const they =
    count === 1
      ? '1 failing delivery is not included: it is'
      : `${count} failing deliveries are not included: they are`
  remark(
    io,
    `${they} retried on schedule. To send now: jeton delivery recover ${flags.filter(Boolean).join(' ')}`,
  )
}

/** Exit code 1 if there was no connection, for scripts. */
function failUnlessReached(_: Io, { json }: Answer): void {
  if ((json as { reason: string | null }).reason !== null) throw new ExitWith(EXIT.refused)
}

function failUnlessActive(_: Io, { json }: Answer): void {
  if (!(json as { active: boolean }).active) throw new ExitWith(EXIT.refused)
}

const test: Extra = { defaults: () => ({ wait_ms: TEST_WAIT_MS }), conclude: failUnlessDelivered }

/** Additions to generated commands, by `noun.verb`. */
export const EXTRAS: Readonly<Record<string, Extra>> = {
  'project.create': { examples: ['jeton project create --name "Club Europe"'] },
  'project.delete': { examples: ['jeton project delete "Club Europe"'] },
  'key.list': {
    examples: ['jeton key list --state blocked', 'jeton key list --address 10.0.0.4   # may be used from it'],
  },
  'key.create': {
    ...keyCreation,
    examples: [
      'jeton key create --name pos-gateway --permissions loyalties,rewards --ip-whitelist 10.0.0.0/8',
      'jeton key create --name command-line --permissions api --save   # used by token issue',
      'jeton key create --data @key.json --json',
    ],
  },
  'key.update': {
    ...spreading,
    examples: [
      'jeton key update pos-gateway --token-limit 50',
      'jeton key update pos-gateway --token-limit null --ip-whitelist ""',
    ],
  },
  'key.show': {
    examples: ['jeton key show pos-gateway', 'jeton key show 4f0c5d1e-7a52-4b7e-9d0f-3c1f6a2b8e90 --json'],
  },
  'key.block': {
    ...spreading,
    examples: [
      'jeton key block pos-gateway --reason "secret found in a public repository"',
      'jeton key block pos-gateway --wait   # until every process applies it',
    ],
  },
  'key.unblock': { ...spreading, examples: ['jeton key unblock pos-gateway --wait'] },
  'key.revoke-tokens': { ...spreading, examples: ['jeton key revoke-tokens pos-gateway --wait'] },
  'key.regenerate': { examples: ['jeton key regenerate pos-gateway --grace-seconds 86400'] },
  'operator.create': {
    ...localCreation,
    examples: [
      'jeton operator create --name anna --role editor --project Shop --project Club',
      'jeton operator create --name root --role admin',
      'jeton operator create --local --save   # on the machine with the store',
    ],
  },
  'operator.update': {
    examples: [
      'jeton operator update anna --role editor',
      'jeton operator update anna --project Shop',
      'jeton operator update anna --project null   # all projects',
    ],
  },
  'operator.regenerate': { examples: ['jeton operator regenerate anna'] },
  'token.list': { examples: ['jeton token list --key pos-gateway'] },
  'token.revoke': {
    examples: [
      'jeton token revoke tok_5f1d0c9b8a7e6d5c4b3a2918',
      'jeton token revoke jtn_…   # the token itself',
    ],
  },
  'token.check': {
    conclude: failUnlessActive,
    examples: [
      'jeton token check --access-token "$TOKEN"   # exit code 1 if it is not active',
      'jeton token check --data - < body.json   # keeps the token out of the process list',
    ],
  },
  'webhook.check': {
    conclude: failUnlessReached,
    examples: ['jeton webhook check --target-url https://hooks.example.com/jeton'],
  },
  'webhook.create': {
    examples: [
      'jeton webhook create --target-url https://hooks.example.com/jeton --events customer.reward_redemptions.completed',
    ],
  },
  'webhook.rotate': { examples: ['jeton webhook rotate wh_… --overlap-seconds 3600'] },
  'distribution.create': {
    examples: [
      'jeton distribution create --name "Notify CRM" --campaign-id Club --target-url https://crm.example.com/hook',
      `jeton distribution create … --headers '{"x-tenant":"seven"}'`,
    ],
  },
  'webhook.test': {
    ...test,
    examples: [
      'jeton webhook test wh_…   # exit code 1 if the attempt failed',
      'jeton webhook test wh_… --wait-ms 0   # do not wait for it',
    ],
  },
  'distribution.test': { ...test, examples: ['jeton distribution test "Notify CRM"'] },
  'event.replay': {
    examples: ['jeton event replay evcus_…', 'jeton event replay evcus_… --destination wh_…'],
  },
  'delivery.list': {
    examples: [
      'jeton delivery list --failing',
      'jeton delivery list --status exhausted,held --from 2d',
      'jeton delivery list --http-status 503',
      'jeton delivery list --error "connection refused"',
      'jeton delivery list --event evcus_…',
      'jeton delivery list --status held --destination wh_… --all',
    ],
  },
  'delivery.show': { examples: ['jeton delivery show whs_…   # every attempt, and the payload'] },
  'delivery.retry': { examples: ['jeton delivery retry whs_…'] },
  'delivery.recover': {
    send: recoverInBatches,
    conclude: noteLeftOut,
    examples: [
      'jeton delivery recover --since 6h --dry-run',
      'jeton delivery recover --since 6h --include exhausted,failing',
      'jeton delivery recover --since 2026-11-15T14:00:00Z --destination wh_…',
      'jeton delivery recover --http-status 503 --include failing --dry-run',
      'jeton delivery recover --ids whs_…,whs_…',
    ],
  },
  'event.list': {
    examples: ['jeton event list --undelivered', 'jeton event list --entity cust_… --from 2026-11-01'],
  },
  'customer.search': {
    examples: ['jeton customer search --email ann@example.com', 'jeton customer search --card SAMPLE-1'],
  },
  'customer.redemptions': { examples: ['jeton customer redemptions cust_…   # with their deliveries'] },
  'audit.list': {
    ...auditList,
    examples: [
      'jeton audit list --action api_key.blocked --from 2026-11-01',
      'jeton audit list --all-projects   # includes operators and deleted projects',
    ],
  },
  'refusal.list': { examples: ['jeton refusal list --limit 50'] },
}
