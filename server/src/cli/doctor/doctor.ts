import { existsSync, statSync } from 'node:fs'
import { checkDataFolder, checkEncryption } from '../../app/checks/check-files.ts'
import { checkProduction, checkProxies, type Judge } from '../../app/checks/check-production.ts'
import {
  checkProcesses,
  examineStore,
  type StoreExamined,
  saneClock,
  unseenStore,
} from '../../app/checks/check-store.ts'
import { asUnknown, type Finding, failed, ok, unknown } from '../../app/checks/finding.ts'
import { canCreateSample } from '../../app/first-start.ts'
import { type Config, type Environment, readConfig } from '../../platform/config/index.ts'
import { StartFailure } from '../../platform/start-failure.ts'
import { type AnsweredBy, type AskOptions, answeredByText, askService } from '../ask-service.ts'
import { explainFailure } from '../exit.ts'
import { TERMINAL_COLUMNS, wrapped } from '../format.ts'
import { asStarted, coloured, type Io, printLine } from '../io.ts'
import { profilePath, shownProfilePath } from '../profile.ts'
import { FROM_SHELL, SHELL_SETTINGS } from '../show-config.ts'
import { openExisting, sqliteFile, storeExists } from '../store.ts'
import { checkPorts } from './check-port.ts'

interface DoctorOptions extends AskOptions {
  readonly production?: boolean
  readonly json?: boolean
}

/** Runs every check, in the running service or else with the settings of this shell. Changes nothing. True if none failed. */
export async function doctor(io: Io, options: DoctorOptions): Promise<boolean> {
  const { service, findings } = await findingsOf(io, options)
  const healthy = findings.every(({ result }) => result !== 'failed')
  if (options.json) {
    const from = service ? { settings_from: 'service', service } : FROM_SHELL
    printLine(io, JSON.stringify({ ok: healthy, ...from, checks: findings }, null, 2))
    return healthy
  }
  const heading = service
    ? `${answeredByText(service)} Settings of this shell: ${asStarted(io, 'jeton doctor --local')}`
    : SHELL_SETTINGS
  for (const text of wrapped(heading, TERMINAL_COLUMNS)) printLine(io, text)
  for (const finding of findings) printLine(io, line(io, finding))
  return healthy
}

interface Found {
  readonly service?: AnsweredBy
  readonly findings: readonly Finding[]
}

type Check = Omit<Finding, 'do'> & { readonly remedy: string | null }

async function findingsOf(io: Io, options: DoctorOptions): Promise<Found> {
  const production = options.production === true
  if (options.local) return { findings: await examine(io, production) }
  const asked = await askService<Check>(io, options, {
    path: '/management/v1/checks',
    query: { production: String(production) },
  })
  if (asked.answeredBy)
    return {
      service: asked.answeredBy,
      findings: [...asked.data.map(findingOf), checkProfile(io.env)],
    }
  const says = `not asked: ${asked.whyNot}`
  return { findings: [unknown('service', says, asked.do), ...(await examine(io, production))] }
}

const findingOf = ({ name, result, says, remedy }: Check): Finding => ({
  ...{ name, result, says },
  ...(remedy !== null && { do: remedy }),
})

/** Turns success that rests on defaults into unknown, since the service may have another environment. */
const unlessDefault =
  (env: Environment): Judge =>
  (finding, settings) => {
    if (finding.result !== 'ok' || settings.some((name) => env[name] !== undefined)) return finding
    return unknown(finding.name, `${settings.join(', ')} not set in this shell. Default: ${finding.says}`)
  }

async function examine(io: Io, production: boolean): Promise<Finding[]> {
  const { config, finding } = settingsOf(io)
  if (!config) return [finding, checkProfile(io.env)]
  const store = await checkStore(config, { now: io.now, production })
  const encryption = checkEncryption(config, { production, needed: store.neededKeys })
  const judge: Judge = production ? unlessDefault(io.env) : (found) => found
  return [
    finding,
    ...checkDataFolder(config, production),
    production && !storeExists(config) ? asUnknown(encryption) : encryption,
    ...store.findings,
    ...(await checkPorts({ io, config, store })),
    judge(checkProcesses(config), ['JETON_WORKERS']),
    checkProfile(io.env),
    ...checkProxies(config, production).map((found) => judge(found, ['JETON_TRUSTED_PROXIES'])),
    ...(production ? checkProduction(config, store, judge) : []),
  ]
}

function settingsOf({ env }: Io): { config?: Config; finding: Finding } {
  try {
    const config = readConfig(env)
    const given = Object.keys(env).filter((name) => name.startsWith('JETON_')).length
    return { config, finding: ok('settings', given === 0 ? 'valid (all defaults)' : `valid, ${given} set`) }
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error
    return {
      finding: failed(
        'settings',
        error.message,
        'fix it; all settings: jeton config, docs/reference/settings.md',
      ),
    }
  }
}

/** Width of `✓ data folder  `. */
const MARGIN = 15

/** Wraps the text for people, but never a command to type. */
function line(io: Io, { name, result, says, do: remedy }: Finding): string {
  const mark = {
    ok: coloured(io, 'green', '✓'),
    warning: coloured(io, 'yellow', '!'),
    failed: coloured(io, 'red', '✗'),
    unknown: coloured(io, 'yellow', '?'),
  }
  const text = io.isTTY ? wrapped(says, TERMINAL_COLUMNS - MARGIN) : [says]
  const steps =
    remedy?.split('\n').map((step, i) => `${i === 0 ? '  → ' : '    '}${asStarted(io, step)}`) ?? []
  return [`${mark[result]} ${name.padEnd(12)} ${text.join(`\n${' '.repeat(MARGIN)}`)}`, ...steps].join('\n')
}

interface StoreOptions {
  readonly now: () => number
  /** With --production a missing store is unknown, because the service may use another one. */
  readonly production: boolean
}

/** Opens the store of these settings and checks it. */
async function checkStore(config: Config, { now, production }: StoreOptions): Promise<StoreExamined> {
  const notYet = production ? unknown : ok
  if (!storeExists(config)) {
    const says = `SQLite ${sqliteFile(config)} does not exist yet; the first start creates it`
    return unseenStore([notYet('store', says), saneClock(now()), operatorOfNew(config, notYet)], [])
  }
  try {
    const db = await openExisting(config)
    return await examineStore(config, db, now).finally(() => db.close())
  } catch (error) {
    const [says = ''] = explainFailure(error).text.split('\n', 1)
    return unseenStore([failed('store', says, remedyFor(config))], undefined)
  }
}

const remedyFor = (config: Config): string =>
  config.JETON_DATABASE_URL
    ? 'fix JETON_DATABASE_URL, or start PostgreSQL'
    : 'fix it, or JETON_DATA_DIR=<another directory>'

function operatorOfNew(config: Config, notYet: typeof ok): Finding {
  if (config.JETON_MANAGEMENT_ID) return ok('operator', `${config.JETON_MANAGEMENT_ID}, from the settings`)
  if (canCreateSample(config)) return notYet('operator', 'the first start creates one')
  return failed('operator', 'none', 'jeton operator create --local --save')
}

const NOT_OWNER = 0o077

/** The profile has the token of an operator. */
function checkProfile(env: Environment): Finding {
  const path = profilePath(env)
  const shown = shownProfilePath(env)
  if (!existsSync(path)) return ok('profile', `none yet (${shown}); jeton login creates one`)
  const mode = statSync(path).mode & 0o777
  if (mode & NOT_OWNER)
    return failed('profile', `${shown} is readable by others (${mode.toString(8)})`, `chmod 600 ${shown}`)
  return ok('profile', `${shown}, readable only by you`)
}
