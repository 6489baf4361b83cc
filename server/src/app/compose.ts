import { badGatewayUrl, createScopeGuard } from '../features/access/index.ts'
import { KEYS_CHANGED, markKeysDeleted } from '../features/api-keys/index.ts'
import { countByEvent, createRetention, listUndelivered, readHealth } from '../features/deliveries/index.ts'
import {
  createOperatorGuard,
  createSessionCookies,
  ensureConfiguredOperator,
} from '../features/operators/index.ts'
import { Heartbeat, waitForPropagation } from '../features/processes/index.ts'
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
import { createUsageWriter, keyUse, UsageCounter } from '../features/usage/index.ts'
import { markDestinationsDeleted } from '../features/webhooks/index.ts'
import { isLoopbackHost } from '../platform/addresses.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config, SettingReport } from '../platform/config/index.ts'
import {
  type Database,
  type MigrationReport,
  migrate,
  openDatabase,
  withMetrics,
} from '../platform/database/index.ts'
import { createHttp, type Http, LoginThrottle } from '../platform/http/index.ts'
import type { SupervisorLink } from '../platform/http-processes/index.ts'
import type { Log } from '../platform/log.ts'
import { addProcessMetrics, createMetrics } from '../platform/metrics.ts'
import { createEgressPolicy, createTargetCheck, type Sender } from '../platform/outbound/index.ts'
import { type JobState, startPeriodic } from '../platform/periodic.ts'
import { randomBytes } from '../platform/secrets.ts'
import type { Tracer } from '../platform/tracing.ts'
import { listAttention } from './attention/list-attention.ts'
import { CHANGES_JOB, CLEAN_UP_JOB, FLUSH_JOB, HEARTBEAT_JOB, USAGE_JOB } from './background-jobs.ts'
import { checkService } from './checks/check-service.ts'
import { consoleRoutes } from './console/console.routes.ts'
import { startSending } from './delivery.ts'
import { missingKeyIds, openVault } from './encryption-keys.ts'
import { homeRoutes } from './home.routes.ts'
import { removeOld } from './janitor.ts'
import { listen, listenAddresses } from './listen.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { nameActors } from './name-actors.ts'
import { checkNoticeUrl, startNotices } from './notices/start-notices.ts'
import { cacheFigures, identifyProcess } from './process.ts'
import { readAccess, readOpenApi } from './reference-access.ts'
import { addManagementRoutes, addPublicRoutes, type RouteDeps } from './routes.ts'
import { addServiceMetrics } from './service-metrics.ts'
import { startTracer } from './start-tracer.ts'
import { VERSION } from './version.ts'
import { Writability } from './writability.ts'

/** Without a poll for this long the cache is not used, so the process is not ready either. */
const MAX_KEY_STATE_AGE_SECONDS = 30

interface Parts {
  readonly config: Config
  /** The same with where each value came from, for operators. */
  readonly settings: readonly SettingReport[]
  readonly clock: Clock
  readonly log: Log
  /** True in a terminal, where every request is logged. */
  readonly interactive: boolean
  /** Link to the other HTTP processes of this service, if there are several. */
  readonly supervisorLink?: SupervisorLink | undefined
  /** Whether this process delivers events too. Default: true. */
  readonly worker?: boolean
  /** Sends events instead of the HTTP client. */
  readonly sender?: Sender
}

export interface Service {
  readonly db: Database
  readonly migrations: MigrationReport
  readonly tokenCache: TokenCache
  readonly changeFeed: ChangeFeed
  /** Opens the listeners and returns their URLs. */
  start(): Promise<{ url: string; managementUrl: string }>
  /** Finishes requests in flight, writes what is only in memory, and closes the store. */
  stop(): Promise<void>
}

/** Opens the configured store and brings it up to date. */
export async function openStore({
  config,
  clock,
  supervisorLink,
  tracer,
}: Pick<Parts, 'config' | 'clock' | 'supervisorLink'> & { readonly tracer?: Tracer | undefined }): Promise<{
  db: Database
  migrations: MigrationReport
}> {
  const where = {
    url: config.JETON_DATABASE_URL,
    pool: config.JETON_DATABASE_POOL,
    folder: config.JETON_DATA_DIR,
  }
  const db = await openDatabase({ clock, notifications: supervisorLink?.notifications, tracer }, where)
  try {
    return { db, migrations: await migrate(db, { migrations: MIGRATIONS, program: VERSION }) }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Connects all parts of the service. No other module imports every feature. */
export async function compose(parts: Parts): Promise<Service> {
  const { config, clock, log, supervisorLink } = parts
  checkNoticeUrl(config)
  const metrics = createMetrics()
  const identity = identifyProcess(parts.worker === false ? 'http' : 'both')
  const tracer = await startTracer({ ...parts, metrics }, identity.id)
  const store = await openStore({ ...parts, tracer })
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
  const usage = new UsageCounter(clock, metrics)
  const refusals = createRefusalRecorder({ db, clock, usage })
  const retention = createRetention({ db, days: config.JETON_RETENTION_DAYS })
  const tokenCache = new TokenCache({ db, clock, maxTokens: config.JETON_CACHE_TOKENS })
  const changeFeed = new ChangeFeed({ db, clock, cache: tokenCache })
  const lastUsed = new LastUsedTracker(clock)
  const usageWriter = createUsageWriter({
    db,
    clock,
    counter: usage,
    activeTokens: () => countActiveTokens(db, tokenCache.databaseClock.now()),
  })
  const egressPolicy = createEgressPolicy(config.JETON_WEBHOOK_ALLOW)
  const heartbeat = new Heartbeat({
    ...{ db, clock, identity },
    cacheFigures: () => cacheFigures(tokenCache, changeFeed),
  })
  let url = config.JETON_PUBLIC_URL ?? ''
  /** Where the management listener is, if there is one. */
  let apartUrl: string | undefined
  let running = false

  const jobStates: JobState[] = []
  const deps: RouteDeps = {
    db,
    clock,
    identity,
    settings: parts.settings,
    jobs: jobStates,
    check: (production) =>
      checkService({ config, db, clock, whyNotWritable: () => writability.reason() }, production),
    random: randomBytes,
    vault,
    egressPolicy,
    checkTarget: createTargetCheck({ policy: egressPolicy, clock }),
    metrics,
    metricsText: async () => (supervisorLink ? supervisorLink.totalText() : metrics.text()),
    tokenCache,
    attempts,
    sessionCookies,
    consoleUrl: () => apartUrl ?? url,
    lastUsed,
    usage,
    writeUsage: usageWriter.write,
    keyUse: async (projectId, ids) => {
      const to = clock.now()
      return keyUse(db, { projectId, ids, from: to - 24 * 60 * 60_000, to })
    },
    readHealth: async (rows) => readHealth(db, rows, await db.now()),
    tokenTime: () => tokenCache.databaseClock.now(),
    whyNotWritable: () => writability.reason(),
    missingKeyIds: () => missingKeyIds(db, config),
    isExposed: !isLoopbackHost(config.JETON_HOST) || config.JETON_PUBLIC_URL?.startsWith('https://') === true,
    issueBatcher: new IssueBatcher({ db, tracer, now: () => tokenCache.databaseClock.now() }),
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
    waitForPropagation: (change) =>
      waitForPropagation(
        { db, clock, own: { id: identity.id, host: identity.host, pid: identity.pid } },
        change,
      ),
    flush: refusals.flush,
    listUndelivered,
    countDeliveries: countByEvent,
    nameActors: (actors) => nameActors(db, actors),
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
  addServiceMetrics(metrics, tokenCache)
  supervisorLink?.reportMetrics(metrics.families)
  const newHttp = () =>
    createHttp({
      clock,
      log,
      metrics,
      tracer,
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
  const hasConsole = config.JETON_CONSOLE === 'on'
  if (hasConsole) consoleRoutes(management.app, {})
  if (apart) homeRoutes(management.app, { hasApi: false, hasReference: true, hasConsole })
  const listeners: Http[] = apart ? [main, management] : [main]
  for (const http of listeners) http.finish()

  const jobs: { stop(): Promise<void> }[] = []
  const unsubscribers: (() => void)[] = []

  function startWork(): void {
    const scheduling = { clock, log, jobs: jobStates }
    const beats = startPeriodic(scheduling, { ...HEARTBEAT_JOB, run: heartbeat.beat })
    const poll = async () => {
      await changeFeed.pollChanges()
      // Somebody may wait for the confirmation of a change. Revoked tokens are too frequent for a write each.
      if (changeFeed.keyStateVersion !== heartbeat.reportedVersion) beats.soon()
    }
    const poller = startPeriodic(scheduling, { ...CHANGES_JOB, run: poll })
    unsubscribers.push(...[KEYS_CHANGED, TOKENS_REVOKED].map((topic) => db.subscribe(topic, poller.soon)))
    jobs.push(
      poller,
      beats,
      startPeriodic(scheduling, { ...FLUSH_JOB, run: flushAll }),
      startPeriodic(scheduling, { ...USAGE_JOB, run: usageWriter.run }),
      startPeriodic(scheduling, {
        ...CLEAN_UP_JOB,
        run: () => removeOld({ db, refusals, retention }, tokenCache.databaseClock.now()),
      }),
    )
    if (config.JETON_NOTICE_URL !== undefined)
      jobs.push(
        startNotices({
          ...{ ...scheduling, config, db, processId: identity.id, service: () => url },
          listAttention: () => listAttention(deps),
        }),
      )
    if (parts.worker !== false)
      jobs.push(startSending({ ...parts, ...scheduling, db, vault, metrics, usage, tracer }))
  }

  async function openListeners(): Promise<{ url: string; managementUrl: string }> {
    const shared = supervisorLink !== undefined
    const [publicAddress, managementAddress] = listenAddresses(config)
    const address = await listen(main.app, publicAddress!, shared)
    url ||= address
    if (managementAddress) apartUrl = await listen(management.app, managementAddress, shared)
    return { url: address, managementUrl: apartUrl ?? address }
  }

  async function flushAll(): Promise<void> {
    await refusals.flush()
    await operators.flush()
    await lastUsed.flush(db)
  }

  return {
    db,
    migrations,
    tokenCache,
    changeFeed,
    async start() {
      await changeFeed.pollChanges()
      await heartbeat.announce()
      const addresses = await openListeners().catch((error) =>
        heartbeat.leave().then(() => Promise.reject(error)),
      )
      running = true
      startWork()
      return addresses
    },
    async stop() {
      running = false
      await Promise.all(listeners.map((http) => http.stop()))
      for (const unsubscribe of unsubscribers) unsubscribe()
      await Promise.all(jobs.map((job) => job.stop()))
      await Promise.all([flushAll(), usageWriter.write()]).catch((error) =>
        log.warn(
          { reason: (error as Error).message },
          'could not write last-used times, refusals and usage at shutdown',
        ),
      )
      await heartbeat.leave()
      await db.close()
      await tracer?.stop()
    },
  }
}
