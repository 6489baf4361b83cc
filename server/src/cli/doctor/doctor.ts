import { type Config, readConfig } from '../../platform/config/index.ts'
import { StartFailure } from '../../platform/start-failure.ts'
import { coloured, type Io, printLine } from '../io.ts'
import { TERMINAL_COLUMNS, wrapped } from '../wrapped.ts'
import { type Finding, failed, well } from './check.ts'
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
  if (options.json) printLine(io, JSON.stringify({ ok, checks: findings }, null, 2))
  else for (const finding of findings) printLine(io, line(io, finding))
  return ok
}

async function examine(io: Io, production: boolean): Promise<Finding[]> {
  const { config, finding } = settingsOf(io)
  if (!config) return [finding, checkProfile(io.env)]
  const store = await checkStore(config, io.now)
  return [
    finding,
    ...checkDataFolder(config),
    checkEncryption(config, { production, needed: store.neededKeys }),
    ...store.findings,
    ...(await checkPorts(config)),
    checkWorkers(config),
    checkProfile(io.env),
    ...checkProxies(config, production),
    ...(production ? checkProduction(config, store) : []),
  ]
}

function settingsOf({ env }: Io): { config?: Config; finding: Finding } {
  try {
    const config = readConfig(env)
    const given = Object.keys(env).filter((name) => name.startsWith('JETON_')).length
    return { config, finding: well('settings', `valid, ${given} given`) }
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error
    return {
      finding: failed(
        'settings',
        error.message,
        'mend it; all settings: jeton config, docs/configuration.md',
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
    unseen: coloured(io, 'yellow', '?'),
  }
  const text = io.isTTY ? wrapped(says, TERMINAL_COLUMNS - MARGIN) : [says]
  const steps = remedy?.split('\n').map((step, i) => `${i === 0 ? '  → ' : '    '}${step}`) ?? []
  return [`${mark[result]} ${name.padEnd(12)} ${text.join(`\n${' '.repeat(MARGIN)}`)}`, ...steps].join('\n')
}
