import { join, resolve } from 'node:path'
import { compose, type Service } from '../app/compose.ts'
import { missingKeyIds, reportKeys } from '../app/encryption-keys.ts'
import { canCreateSample, createConsoleLink, createSample, type FirstStart } from '../app/first-start.ts'
import { VERSION } from '../app/version.ts'
import { countApiKeys } from '../features/api-keys/index.ts'
import { countOperators } from '../features/operators/index.ts'
import { countProjects } from '../features/projects/index.ts'
import { countAllActiveTokens } from '../features/tokens/index.ts'
import { systemClock } from '../platform/clock.ts'
import { type Config, readConfig, serviceSettings } from '../platform/config/index.ts'
import { sqliteFile, sqliteFileState } from '../platform/database/index.ts'
import { createLog, type Log } from '../platform/log.ts'
import { connectToSupervisor, isWorker, type WorkerLink } from '../platform/workers/index.ts'
import { wrongUsage } from './exit.ts'
import { asStarted } from './io.ts'
import { saveProfile, shownProfilePath, writePrivateFile } from './profile.ts'
import { stopOnSignal, stopWithPrimary } from './stop-on-signal.ts'
import { type StartFacts, summary } from './summary.ts'

interface ServeOptions {
  readonly worker?: boolean
  readonly port?: string
}

/** Runs the service until it is stopped. */
export async function serve({ worker = true, port }: ServeOptions = {}): Promise<void> {
  const config = configOf(port)
  const interactive = process.stdout.isTTY === true
  const log = createLog({ level: config.JETON_LOG_LEVEL, readable: interactive })
  const settings = serviceSettings(process.env, port === undefined ? [] : ['JETON_PORT'])
  const parts = { config, settings, clock: systemClock, log, interactive, worker }
  const several = config.JETON_WORKERS > 1
  const workerLink = several ? connectToSupervisor(systemClock) : undefined
  if (workerLink) return serveAsWorker(await compose({ ...parts, workerLink }), workerLink, log)
  if (config.JETON_DATABASE_URL === undefined && sqliteFileState(config.JETON_DATA_DIR) === 'empty')
    log.warn(
      { file: sqliteFile(config.JETON_DATA_DIR) },
      'the file is empty (0 bytes), so a new store is created in it',
    )
  const service = several
    ? await (await import('../app/supervise.ts')).supervise(parts)
    : await compose(parts)
  // Read before serving: afterwards an unavailable store must not end the process.
  const missingKeys = await missingKeyIds(service.db, config)
  const urls = await service.start()
  stopOnSignal(service, log)
  // Only after listening: secrets are shown once, and a start that fails later would never show them.
  const first = await createSample(service.db, config)
  const saved = first.operator && saveOperator(urls, first, config.JETON_DATA_DIR)
  const hasConsole = config.JETON_CONSOLE === 'on'
  const consoleLink =
    hasConsole && interactive && first.operator
      ? await createConsoleLink(service.db, first.operator, urls.managementUrl)
      : undefined
  const hasOperator = first.operator !== undefined || (await countOperators(service.db)) > 0
  if (canCreateSample(config) || interactive)
    process.stdout.write(
      asStarted(
        process,
        summary({
          ...{ ...urls, ...(await facts(service, first)), first, hasOperator, hasConsole },
          consoleLink,
          savedIn: saved?.savedIn,
          defaultServer: saved?.defaultServer,
          tokenFile: interactive ? undefined : saveSampleToken(first, config.JETON_DATA_DIR),
          workers: config.JETON_WORKERS,
        }),
      ),
    )
  else logReady(log, service, { ...urls, config, hasOperator })
  reportKeys(log, config, missingKeys)
  if (several) await service.db.close()
}

/**
 * `--port` takes precedence over JETON_PORT. Worker processes inherit the variable and not the flag: with port 0 they must
 * use the one that the first of them got.
 */
function configOf(port: string | undefined): Config {
  if (port !== undefined && !isWorker()) {
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw wrongUsage(`--port: ${JSON.stringify(port)} is not a port. Use a number from 0 to 65535.`)
    process.env.JETON_PORT = port
  }
  return readConfig(process.env)
}

/** A worker process only serves. The primary creates the first credentials and prints them. */
async function serveAsWorker(service: Service, primary: WorkerLink, log: Log): Promise<void> {
  const urls = await service.start()
  stopWithPrimary(service, primary, log)
  primary.ready(urls)
}

async function facts(
  { db }: Pick<Service, 'db'>,
  first: FirstStart,
): Promise<Pick<StartFacts, 'version' | 'readyMs' | 'store' | 'existing'>> {
  const created = first.operator || first.sample
  const existing = created
    ? null
    : {
        projects: await countProjects(db),
        keys: await countApiKeys(db),
        activeTokens: await countAllActiveTokens(db, await db.now()),
      }
  return { version: VERSION, readyMs: performance.now(), store: db.label, existing }
}

/** Saves the credentials for the command line, or beside the data if the home directory is not writable. */
function saveOperator(
  { url, managementUrl }: { url: string; managementUrl: string },
  { operator, sample }: FirstStart,
  folder: string,
): Pick<StartFacts, 'savedIn' | 'defaultServer'> {
  const { id: management_id, token: management_token } = operator!
  try {
    const { after } = saveProfile(managementUrl, {
      ...{ management_id, management_token },
      project: sample?.projectId,
      api_url: url === managementUrl ? undefined : url,
      keys: sample && { [sample.projectId]: { app_id: sample.appId, app_token: sample.appToken } },
    })
    return { savedIn: shownProfilePath(), defaultServer: after }
  } catch {
    const file = join(folder, 'operator.json')
    writePrivateFile(file, `${JSON.stringify({ management_id, management_token }, null, 2)}\n`)
    return { savedIn: file, defaultServer: undefined }
  }
}

/** Saves the secret of the sample in a file. Without a terminal the output ends up in logs, so it contains the path only. */
function saveSampleToken({ sample }: FirstStart, folder: string): string {
  const file = resolve(folder, 'sample-app-token')
  if (sample) writePrivateFile(file, `${sample.appToken}\n`)
  return file
}

interface Ready {
  readonly url: string
  readonly managementUrl: string
  readonly config: Config
  readonly hasOperator: boolean
}

function logReady(
  log: Log,
  { db, migrations }: Pick<Service, 'db' | 'migrations'>,
  { url, managementUrl, config, hasOperator }: Ready,
): void {
  const applied = migrations.applied.length
  const management = managementUrl === url ? {} : { management_url: managementUrl }
  const stored = { store: db.label, migrations: migrations.total, applied_now: applied }
  const processes = config.JETON_WORKERS
  log.info({ url, ...management, version: VERSION, processes, ...stored }, 'ready')
  if (!hasOperator) log.warn({ do: 'jeton operator create --local' }, 'no operator yet')
  if (config.JETON_PUBLIC_URL === undefined)
    log.warn(
      { why: `metadata and links will show ${url}`, do: 'set JETON_PUBLIC_URL' },
      'JETON_PUBLIC_URL is not set',
    )
}
