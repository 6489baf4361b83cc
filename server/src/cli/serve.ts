import { compose, type Service } from '../app/compose.ts'
import { type FirstStart, makeFirst, mayMakeFirst } from '../app/first-start.ts'
import { VERSION } from '../app/version.ts'
import { countApiKeys } from '../features/api-keys/index.ts'
import { countProjects } from '../features/projects/index.ts'
import { countAllActiveTokens } from '../features/tokens/index.ts'
import { systemClock } from '../platform/clock.ts'
import { readConfig } from '../platform/config/index.ts'
import { createLog, type Log } from '../platform/log.ts'
import { saveProfile, shownProfilePath } from './profile.ts'
import { type StartFacts, summary } from './summary.ts'

/** Runs the service until it is told to stop. */
export async function serve(): Promise<void> {
  const config = readConfig(process.env)
  const interactive = process.stdout.isTTY === true
  const log = createLog({ level: config.JETON_LOG_LEVEL, readable: interactive })
  const service = await compose({ config, clock: systemClock, log, interactive })
  const first = await makeFirst(service.db, config)
  const urls = await service.start()
  stopOnSignal(service, log)
  const savedIn = first.operator && keepOperator(urls.managementUrl, first)
  if (mayMakeFirst(config) || interactive)
    process.stdout.write(
      summary({ ...urls, ...(await facts(service, first)), first, savedIn, showOperator: interactive }),
    )
  else logReady(log, service, urls, config.JETON_PUBLIC_URL)
}

async function facts(
  { db, memory }: Service,
  first: FirstStart,
): Promise<Pick<StartFacts, 'version' | 'readyMs' | 'store' | 'existing'>> {
  const created = first.operator || first.sample
  const existing = created
    ? null
    : {
        projects: await countProjects(db),
        keys: await countApiKeys(db),
        activeTokens: await countAllActiveTokens(db, memory.storeClock.now()),
      }
  return { version: VERSION, readyMs: performance.now(), store: db.label, existing }
}

/** So that `npx jeton key list` works at once on this machine. */
function keepOperator(url: string, { operator, sample }: FirstStart): string {
  saveProfile(url, {
    management_id: operator!.id,
    management_token: operator!.token,
    project: sample?.projectId,
  })
  return shownProfilePath()
}

function logReady(
  log: Log,
  { db, migrations }: Service,
  { url }: { url: string },
  publicUrl: string | undefined,
): void {
  const applied = migrations.applied.length
  log.info(
    { url, version: VERSION, store: db.label, migrations: migrations.total, applied_now: applied },
    'ready',
  )
  if (publicUrl === undefined)
    log.warn(
      { why: `metadata and links will show ${url}`, do: 'set JETON_PUBLIC_URL' },
      'JETON_PUBLIC_URL is not set',
    )
}

function stopOnSignal(service: Service, log: Log): void {
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, async () => {
      // The second time someone means it.
      if (stopping) process.exit(1)
      stopping = true
      await service.stop().catch((error) => log.error({ err: error }, 'stopping failed'))
      process.exit(0)
    })
}
