import { type Config, readConfig } from '../../platform/config/index.ts'
import { StartFailure } from '../../platform/start-failure.ts'
import { TERMINAL_COLUMNS, wrapped } from '../format.ts'
import { asStarted, coloured, type Io, printLine } from '../io.ts'
import { SHELL_SETTINGS } from '../show-config.ts'
import { storeExists } from '../store.ts'
import { checkDataFolder, checkEncryption, checkProfile } from './check-files.ts'
import { checkPorts } from './check-port.ts'
import { checkProduction, checkProxies } from './check-production.ts'
import { checkStore, checkWorkers } from './check-store.ts'
import { asUnknown, type Finding, failed, ok, unlessDefault } from './finding.ts'

interface DoctorOptions {
  readonly production?: boolean
  readonly json?: boolean
}

/** Runs every check and changes nothing. True if none failed. */
export async function doctor(io: Io, options: DoctorOptions): Promise<boolean> {
  const findings = await examine(io, options.production === true)
  const healthy = findings.every(({ result }) => result !== 'failed')
  if (options.json) {
    printLine(
      io,
      JSON.stringify({ ok: healthy, settings_from: 'environment of this shell', checks: findings }, null, 2),
    )
    return healthy
  }
  for (const text of wrapped(SHELL_SETTINGS, TERMINAL_COLUMNS)) printLine(io, text)
  for (const finding of findings) printLine(io, line(io, finding))
  return healthy
}

async function examine(io: Io, production: boolean): Promise<Finding[]> {
  const { config, finding } = settingsOf(io)
  if (!config) return [finding, checkProfile(io.env)]
  const store = await checkStore(config, { now: io.now, production })
  const encryption = checkEncryption(config, { production, needed: store.neededKeys })
  const seen = (found: Finding, setting: string) =>
    production ? unlessDefault(found, io.env, [setting]) : found
  return [
    finding,
    ...checkDataFolder(config, production),
    production && !storeExists(config) ? asUnknown(encryption) : encryption,
    ...store.findings,
    ...(await checkPorts({ io, config, store })),
    seen(checkWorkers(config), 'JETON_WORKERS'),
    checkProfile(io.env),
    ...checkProxies(config, production).map((found) => seen(found, 'JETON_TRUSTED_PROXIES')),
    ...(production ? checkProduction(config, io.env, store) : []),
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
