import { readFileSync } from 'node:fs'
import { badGatewayUrl, createScopeGuard } from '../features/access/index.ts'
import { KEYS_CHANGED, markKeysDeleted } from '../features/api-keys/index.ts'
import { createRetention } from '../features/deliveries/index.ts'
import {
  createOperatorGuard,
  createSessionCookies,
  ensureConfiguredOperator,
} from '../features/operators/index.ts'
import { requireProject } from '../features/projects/index.ts'
import { createRefusalRecorder } from '../features/refusals/index.ts'
import {
  ChangeFeed,
  countActiveTokens,
  IssueBatcher,
  LastUsedTracker,
  TOKENS_REVOKED,
  TokenCache,
} from '../features/tokens/index.ts'
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

/** Brings a change to this process even if no notification arrives; 2 s are promised. */
const POLL_EVERY_MS = 1_000
const FLUSH_EVERY_MS = 2_000
const CLEAN_EVERY_MS = 10_000
/** Without a poll for this long the cache answers nothing, so the process is not ready either. */
const MAX_KEY_STATE_AGE_SECONDS = 30

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
  readonly tokenCache: TokenCache
  readonly changeFeed: ChangeFeed
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
  const sessionCookies = createSessionCookies(config.JETON_TRUSTED_PROXIES)
  const operators = createOperatorGuard({ db, clock, attempts, sessionCookies })
  const refusals = createRefusalRecorder({ db, clock })
  const retention = createRetention({ db, days: config.JETON_RETENTION_DAYS })
  const tokenCache = new TokenCache({ db, clock, maxTokens: config.JETON_CACHE_TOKENS })
  const changeFeed = new ChangeFeed({ db, clock, cache: tokenCache })
  const lastUsed = new LastUsedTracker(clock)
  let url = config.JETON_PUBLIC_URL ?? ''
  /** Where the management listener is, if there is one. */
  let apartUrl: string | undefined
  let running = false

  const deps: RouteDeps = {
    db,
    clock,
    random: randomBytes,
    vault,
    egressPolicy: createEgressPolicy(config.JETON_WEBHOOK_ALLOW),
    metrics,
    metricsText: async () => (workerLink ? workerLink.totalText() : metrics.text()),
    tokenCache,
    attempts,
    sessionCookies,
    consoleUrl: () => apartUrl ?? url,
    lastUsed,
    issueBatcher: new IssueBatcher({ db, now: () => tokenCache.databaseClock.now() }),
    async requireProjects(ids) {
      for (const id of ids) await requireProject(db, id)
    },
    projectName: async (id) => (await requireProject(db, id)).name,
    countTokens: (projectIds) => countActiveTokens(db, tokenCache.databaseClock.now(), projectIds),
    async markContents(tx, projectId) {
      await markKeysDeleted(tx, projectId)
      await markDestinationsDeleted(tx, projectId)
    },
    onDelete: (projectId) => tokenCache.deleteKeysOf(projectId),
    onChange: (key) => void tokenCache.putKey(key),
    flush: refusals.flush,
    publicUrl: () => url,
    async whyNotReady() {
      if (!running) return 'the process is starting or stopping'
      const age = tokenCache.keyStateAgeSeconds ?? Number.POSITIVE_INFINITY
      return age < MAX_KEY_STATE_AGE_SECONDS ? writability.reason() : 'the state of keys cannot be confirmed'
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
    const poller = startPeriodic(
      { clock, log },
      { name: 'poll', everyMs: POLL_EVERY_MS, run: () => changeFeed.pollChanges() },
    )
    unsubscribers.push(...[KEYS_CHANGED, TOKENS_REVOKED].map((topic) => db.subscribe(topic, poller.soon)))
    jobs.push(
      poller,
      startPeriodic({ clock, log }, { name: 'flush', everyMs: FLUSH_EVERY_MS, run: flushAll }),
      startPeriodic(
        { clock, log },
        {
          name: 'janitor',
          everyMs: CLEAN_EVERY_MS,
          run: () => removeOld({ db, refusals, retention }, tokenCache.databaseClock.now()),
        },
      ),
    )
    if (parts.worker !== false) jobs.push(startSending({ config, clock, log, db, vault, metrics }))
  }

  async function flushAll(): Promise<void> {
    await refusals.flush()
    await operators.flush()
    await lastUsed.flush(db)
  }

  function addServiceMetrics(): void {
    metrics.gauge(
      'jeton_key_state_age_seconds',
      'Seconds since this process last confirmed the state of keys.',
      () => tokenCache.keyStateAgeSeconds,
      'max',
    )
    metrics.gauge('jeton_workers', 'Processes of the service that answer requests.', () => 1)
    metrics.gauge('jeton_tokens_cached', 'Tokens in the cache.', () => tokenCache.size)
    metrics.countedElsewhere(
      'jeton_token_cache_hits_total',
      'Token lookups answered by the cache.',
      () => tokenCache.hits,
    )
    metrics.countedElsewhere(
      'jeton_token_cache_misses_total',
      'Tokens that were read from the store.',
      () => tokenCache.misses,
    )
  }

  return {
    db,
    migrations,
    tokenCache,
    changeFeed,
    async start() {
      await changeFeed.pollChanges()
      const shared = workerLink !== undefined
      const [place, managementPlace] = listenAddresses(config)
      const address = await listen(main.app, place!, shared)
      url ||= address
      if (managementPlace) apartUrl = await listen(management.app, managementPlace, shared)
      running = true
      startWork()
      return { url: address, managementUrl: apartUrl ?? address }
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
