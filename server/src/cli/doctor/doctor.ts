import { type Config, readConfig } from '../../platform/config/index.ts'
import { StartFailure } from '../../platform/start-failure.ts'
import { coloured, type Io, printLine } from '../io.ts'
import { SHELL_SETTINGS } from '../show-config.ts'
import { storeExists } from '../store.ts'
import { TERMINAL_COLUMNS, wrapped } from '../wrapped.ts'
import { asUnknown, type Finding, failed, unlessDefault, well } from './check.ts'
import { checkEncryption } from './check-encryption.ts'
import { checkDataFolder, checkProfile } from './check-files.ts'
import { checkPorts } from './check-port.ts'
import { checkProduction } from './check-production.ts'
import { checkProxies } from './check-proxies.ts'
import { checkStore } from './check-store.ts'
import { checkWorkers } from './check-workers.ts'

interface DoctorOptions {
  readonly production?: boolean
  readonly json?: boolean
}

/** Checks everything and changes nothing. True where the service can run like this. */
export async function doctor(io: Io, options: DoctorOptions): Promise<boolean> {
  const findings = await examine(io, options.production === true)
  const ok = findings.every(({ result }) => result !== 'failed')
  if (options.json) {
    printLine(
      io,
      JSON.stringify({ ok, settings_from: 'environment of this shell', checks: findings }, null, 2),
    )
    return ok
  }
  for (const text of wrapped(SHELL_SETTINGS, TERMINAL_COLUMNS)) printLine(io, text)
  for (const finding of findings) printLine(io, line(io, finding))
  return ok
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
    return { config, finding: well('settings', given === 0 ? 'valid (all defaults)' : `valid, ${given} set`) }
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

/** `✓ data folder  `. */
const MARGIN = 15

/** People get lines that fit; what is to be typed is never broken. */
function line(io: Io, { name, result, says, do: remedy }: Finding): string {
  const mark = {
    ok: coloured(io, 'green', '✓'),
    warning: coloured(io, 'yellow', '!'),
    failed: coloured(io, 'red', '✗'),
    unknown: coloured(io, 'yellow', '?'),
  }
  const text = io.isTTY ? wrapped(says, TERMINAL_COLUMNS - MARGIN) : [says]
  const steps = remedy?.split('\n').map((step, i) => `${i === 0 ? '  → ' : '    '}${step}`) ?? []
  return [`${mark[result]} ${name.padEnd(12)} ${text.join(`\n${' '.repeat(MARGIN)}`)}`, ...steps].join('\n')
}
