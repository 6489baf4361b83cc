import { readFileSync } from 'node:fs'
import { badGatewayUrl, createScopeGuard } from '../features/access/index.ts'
import { KEYS_CHANGED, markKeysDeleted } from '../features/api-keys/index.ts'
import { createRetention } from '../features/deliveries/index.ts'
import { createOperatorGuard, ensureConfiguredOperator } from '../features/operators/index.ts'
import { requireProject } from '../features/projects/index.ts'
import { createRefusalRecorder } from '../features/refusals/index.ts'
import { countActiveTokens, KeyUses, Memory, TOKENS_REVOKED, TokenIssuer } from '../features/tokens/index.ts'
import { markDestinationsDeleted } from '../features/webhooks/index.ts'
import { isLoopbackHost } from '../platform/addresses.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/index.ts'
import {
  type Database,
  type MigrationReport,
  migrate,
  openDatabase,
  withMetrics,
} from '../platform/database/index.ts'
import { createHttp, type Http, LoginThrottle } from '../platform/http/index.ts'
import type { Log } from '../platform/log.ts'
import { addProcessMetrics, createMetrics } from '../platform/metrics.ts'
import { createEgressPolicy } from '../platform/outbound/index.ts'
import { randomBytes } from '../platform/secrets.ts'
import { startPeriodic } from '../platform/worker/index.ts'
import type { WorkerLink } from '../platform/workers/index.ts'
import { startSending } from './delivery.ts'
import { openVault } from './encryption-keys.ts'
import { homeRoutes } from './home.routes.ts'
import { removeOld } from './janitor.ts'
import { listen, listenAddresses } from './listen.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { addManagementRoutes, addPublicRoutes, type RouteDeps } from './routes.ts'
import { VERSION } from './version.ts'
import { Writability } from './writability.ts'

/** Spreads a change to this process even if no notification arrives; the contract promises 2 s. */
const LOOK_EVERY_MS = 1_000
const FLUSH_EVERY_MS = 2_000
const CLEAN_EVERY_MS = 10_000
/** After this long without a look nothing is vouched for, so the process is not ready either. */
const LOOK_AGE_MOST_SECONDS = 30

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  /** In a terminal, people want to see every request. */
  readonly interactive: boolean
  /** The link to the other HTTP processes of this service, if it has several. */
  readonly workerLink?: WorkerLink | undefined
  /** Whether events are sent by this process too; they are unless it says no. */
  readonly worker?: boolean
}

export interface Service {
  readonly db: Database
  readonly migrations: MigrationReport
  readonly memory: Memory
  /** Opens the listeners; the addresses under which they are reached. */
  start(): Promise<{ url: string; managementUrl: string }>
  /** Finishes what is in flight, writes what is only in memory, closes the store. */
  stop(): Promise<void>
}

/** Opens the store that the settings name and brings it up to date. */
export async function openStore({
  config,
  clock,
  workerLink,
}: Pick<Parts, 'config' | 'clock' | 'workerLink'>): Promise<{ db: Database; migrations: MigrationReport }> {
  const where = {
    url: config.JETON_DATABASE_URL,
    pool: config.JETON_DATABASE_POOL,
    folder: config.JETON_DATA_DIR,
  }
  const db = await openDatabase({ clock, notifications: workerLink?.notifications }, where)
  try {
    return { db, migrations: await migrate(db, { migrations: MIGRATIONS, program: VERSION }) }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** The whole service, wired. The only place that sees every feature. */
export async function compose(parts: Parts): Promise<Service> {
  const { config, clock, log, workerLink } = parts
  const metrics = createMetrics()
  const store = await openStore(parts)
  const { migrations } = store
  const writability = new Writability({ db: store.db, clock, log })
  const db = withMetrics(store.db, metrics, writability.note)
  if (config.JETON_MANAGEMENT_ID !== undefined)
    await ensureConfiguredOperator(
      { db, random: randomBytes },
      { id: config.JETON_MANAGEMENT_ID, token: config.JETON_MANAGEMENT_TOKEN! },
    )

  const vault = await openVault(store.db, config)
  const attempts = new LoginThrottle(clock)
  const operators = createOperatorGuard({ db, clock, attempts })
  const refusals = createRefusalRecorder({ db, clock })
  const retention = createRetention({ db, days: config.JETON_RETENTION_DAYS })
  const memory = new Memory({ db, clock, tokensKept: config.JETON_CACHE_TOKENS })
  const uses = new KeyUses(clock)
  let url = config.JETON_PUBLIC_URL ?? ''
  let running = false

  const deps: RouteDeps = {
    db,
    clock,
    random: randomBytes,
    vault,
    egressPolicy: createEgressPolicy(config.JETON_WEBHOOK_ALLOW),
    metrics,
    metricsText: async () => (workerLink ? workerLink.totalText() : metrics.text()),
    memory,
    attempts,
    uses,
    issuer: new TokenIssuer({ db, now: () => memory.storeClock.now() }),
    projectName: async (id) => (await requireProject(db, id)).name,
    countTokens: (projectIds) => countActiveTokens(db, memory.storeClock.now(), projectIds),
    async markContents(tx, projectId) {
      await markKeysDeleted(tx, projectId)
      await markDestinationsDeleted(tx, projectId)
    },
    onDelete: (projectId) => memory.forgetProject(projectId),
    onChange: (key) => void memory.rememberKey(key),
    flush: refusals.flush,
    publicUrl: () => url,
    async whyNotReady() {
      if (!running) return 'the process is starting or stopping'
      const age = memory.lookAgeSeconds ?? Number.POSITIVE_INFINITY
      return age < LOOK_AGE_MOST_SECONDS ? writability.reason() : 'the state of keys cannot be confirmed'
    },
    openapi: () => ({ ...readOpenApi(), servers: [{ url }] }),
    ...readAccess(config),
  }

  addProcessMetrics(metrics)
  addServiceMetrics()
  workerLink?.reportMetrics(metrics.families)
  const newHttp = () =>
    createHttp({
      clock,
      log,
      metrics,
      fastPath: config.JETON_FAST_PATH === 'on',
      trustedProxies: config.JETON_TRUSTED_PROXIES,
      managementAllow: config.JETON_MANAGEMENT_ALLOW,
      requestLogLevel: parts.interactive ? 'info' : 'debug',
      guards: { operator: operators.guard, scope: createScopeGuard(deps) },
      onRefusal: refusals.record,
      badUrl: badGatewayUrl,
      publicUrl: () => url,
    })
  const apart = config.JETON_MANAGEMENT_PORT !== undefined
  const main = newHttp()
  const management = apart ? newHttp() : main
  addPublicRoutes(main.app, deps)
  addManagementRoutes(management.app, deps)
  if (apart) homeRoutes(management.app, { hasApi: false, hasReference: true })
  const listeners: Http[] = apart ? [main, management] : [main]
  for (const http of listeners) http.finish()

  const jobs: { stop(): Promise<void> }[] = []
  const unsubscribers: (() => void)[] = []

  function startWork(): void {
    const looker = startPeriodic(
      { clock, log },
      { name: 'look', everyMs: LOOK_EVERY_MS, run: () => memory.look() },
    )
    unsubscribers.push(...[KEYS_CHANGED, TOKENS_REVOKED].map((topic) => db.subscribe(topic, looker.soon)))
    jobs.push(
      looker,
      startPeriodic({ clock, log }, { name: 'flush', everyMs: FLUSH_EVERY_MS, run: flushAll }),
      startPeriodic(
        { clock, log },
        {
          name: 'janitor',
          everyMs: CLEAN_EVERY_MS,
          run: () => removeOld({ db, refusals, retention }, memory.storeClock.now()),
        },
      ),
    )
    if (parts.worker !== false) jobs.push(startSending({ config, clock, log, db, vault, metrics }))
  }

  async function flushAll(): Promise<void> {
    await refusals.flush()
    await operators.flush()
    await uses.flush(db)
  }

  function addServiceMetrics(): void {
    metrics.gauge(
      'jeton_last_look_age_seconds',
      'How long ago this process last read what changed.',
      () => memory.lookAgeSeconds,
      'max',
    )
    metrics.gauge('jeton_workers', 'Processes of the service that answer requests.', () => 1)
    metrics.gauge('jeton_tokens_cached', 'Tokens in memory.', () => memory.tokensHeld)
    metrics.countedElsewhere(
      'jeton_token_cache_hits_total',
      'Verdicts on tokens from memory.',
      () => memory.hits,
    )
    metrics.countedElsewhere(
      'jeton_token_cache_misses_total',
      'Tokens that had to be read from the store.',
      () => memory.misses,
    )
  }

  return {
    db,
    migrations,
    memory,
    async start() {
      await memory.look()
      const shared = workerLink !== undefined
      const [place, managementPlace] = listenAddresses(config)
      const address = await listen(main.app, place!, shared)
      url ||= address
      const managementUrl = managementPlace ? await listen(management.app, managementPlace, shared) : address
      running = true
      startWork()
      return { url: address, managementUrl }
    },
    async stop() {
      running = false
      await Promise.all(listeners.map((http) => http.stop()))
      for (const unsubscribe of unsubscribers) unsubscribe()
      await Promise.all(jobs.map((job) => job.stop()))
      await flushAll().catch((error) =>
        log.warn({ reason: (error as Error).message }, 'last notes were not written'),
      )
      await db.close()
    },
  }
}

/**
 * Who may read `/metrics`, `/docs` and `/openapi.json`. On a listener of their own, behind a list of addresses and on a
 * loopback address they are open; anywhere else they require an operator's credential.
 */
function readAccess(
  config: Config,
): Pick<RouteDeps, 'metricsAccess' | 'referenceAccess' | 'hasApi' | 'hasReference'> {
  const isApart = config.JETON_MANAGEMENT_PORT !== undefined || config.JETON_MANAGEMENT_ALLOW.length > 0
  const referenceAccess = isApart || isLoopbackHost(config.JETON_HOST) ? 'public' : 'operator'
  return {
    hasApi: true,
    hasReference: config.JETON_MANAGEMENT_PORT === undefined && referenceAccess === 'public',
    referenceAccess,
    metricsAccess: config.JETON_METRICS_PUBLIC === 'on' ? 'public' : referenceAccess,
  }
}

/** Generated from the routes and kept true by `npm run check`; read when someone asks. */
const readOpenApi = (): object =>
  JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
