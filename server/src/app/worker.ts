import { Problem } from '../contract/problem.ts'
import { Heartbeat } from '../features/processes/index.ts'
import { countActiveTokens } from '../features/tokens/index.ts'
import { createUsageWriter, UsageCounter } from '../features/usage/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/index.ts'
import type { Database } from '../platform/database/index.ts'
import { createHttp, type Http } from '../platform/http/index.ts'
import type { Log } from '../platform/log.ts'
import { addProcessMetrics, createMetrics } from '../platform/metrics.ts'
import { startPeriodic } from '../platform/periodic.ts'
import { StartFailure } from '../platform/start-failure.ts'
import { HEARTBEAT_JOB, USAGE_JOB } from './background-jobs.ts'
import { openStore } from './compose.ts'
import { startSending } from './delivery.ts'
import { missingKeyIds, openVault, reportKeys } from './encryption-keys.ts'
import { healthRoutes, metricsRoute } from './health.routes.ts'
import { listen, listenAddresses } from './listen.ts'
import { identifyProcess } from './process.ts'
import { startTracer } from './start-tracer.ts'
import { Writability } from './writability.ts'

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
}

export interface Worker {
  readonly db: Database
  /** Base URL of probes and metrics; undefined without JETON_MANAGEMENT_PORT. */
  readonly url: string | undefined
  stop(): Promise<void>
}

/** Only delivers events, for services that share its store. */
export async function startWorker(parts: Parts): Promise<Worker> {
  const { config } = parts
  const metrics = createMetrics()
  addProcessMetrics(metrics)
  const identity = identifyProcess('worker')
  const tracer = await startTracer({ ...parts, metrics }, identity.id)
  const { db } = await openStore({ ...parts, tracer })
  const vault = await openVault(db, config)
  if (!vault.ready) {
    await db.close()
    throw new StartFailure(
      'JETON_ENCRYPTION_KEY is not set, so the worker cannot sign. Set the same key as the services.',
    )
  }
  reportKeys(parts.log, config, await missingKeyIds(db, config))
  const writability = new Writability({ ...parts, db })
  const [, address] = listenAddresses(config)
  const probes = address && createProbes()
  const url = probes && (await listen(probes.app, address!))
  const usage = new UsageCounter(parts.clock, metrics)
  const usageWriter = createUsageWriter({
    db,
    clock: parts.clock,
    counter: usage,
    activeTokens: async () => countActiveTokens(db, await db.now()),
  })
  const writing = startPeriodic(parts, {
    ...USAGE_JOB,
    run: usageWriter.run,
  })
  const sending = startSending({ ...parts, db, vault, metrics, usage, tracer })
  const heartbeat = new Heartbeat({ db, clock: parts.clock, identity })
  const beats = startPeriodic(parts, {
    ...HEARTBEAT_JOB,
    run: heartbeat.beat,
  })
  beats.soon()

  function createProbes(): Http {
    // No route here accepts a credential.
    const refuse = async () => {
      throw new Problem('not_found', { message: 'A worker does not serve the API.' })
    }
    const http = createHttp({
      ...parts,
      metrics,
      trustedProxies: config.JETON_TRUSTED_PROXIES,
      managementAllow: config.JETON_MANAGEMENT_ALLOW,
      requestLogLevel: 'debug',
      guards: { operator: refuse, scope: refuse },
      onRefusal: () => undefined,
      publicUrl: () => url ?? '',
    })
    healthRoutes(http.app, { whyNotReady: () => writability.reason() })
    metricsRoute(http.app, { metricsText: async () => metrics.text(), metricsAccess: 'public' })
    http.finish()
    return http
  }

  return {
    db,
    url,
    async stop() {
      await probes?.stop()
      await sending.stop()
      await writing.stop()
      await usageWriter
        .write()
        .catch((error) => parts.log.warn({ reason: (error as Error).message }, 'last usage was not written'))
      await beats.stop()
      await heartbeat.leave()
      await db.close()
      await tracer?.stop()
    },
  }
}
