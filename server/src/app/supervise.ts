import { type ChildProcess, fork } from 'node:child_process'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/index.ts'
import {
  type Listening,
  supervisedEnvironment,
  superviseProcesses,
} from '../platform/http-processes/index.ts'
import type { Log } from '../platform/log.ts'
import { StartFailure } from '../platform/start-failure.ts'
import { claimPort } from './claim-port.ts'
import { openStore, type Service } from './compose.ts'
import { openVault } from './encryption-keys.ts'
import { listenAddresses } from './listen.ts'
import { checkNoticeUrl } from './notices/start-notices.ts'

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
}

/** Platforms that distribute connections among the listeners of a port, as far as Node supports it. */
const SHARES_PORTS: readonly NodeJS.Platform[] = ['linux', 'freebsd']

/**
 * Runs the service as JETON_WORKERS processes: this one brings the store up to date and supervises the others, which run
 * `compose`. Its database connection is for the first start only, and the caller closes it.
 */
export async function supervise({
  config,
  clock,
  log,
}: Parts): Promise<Omit<Service, 'tokenCache' | 'changeFeed'>> {
  if (!SHARES_PORTS.includes(process.platform))
    throw new StartFailure(
      'JETON_WORKERS: several processes on one port require Linux. Unset it, or run Jeton on Linux.',
    )
  checkNoticeUrl(config)
  const { db, migrations } = await openStore({ config, clock })
  // A missing key is reported once, before any process starts.
  await openVault(db, config)
  const launch = (listening: Listening | undefined) => forkHttpProcess(config, listening)
  const { start, stop, leave } = superviseProcesses({ clock, log, launch }, config.JETON_WORKERS)
  process.once('exit', leave)
  return {
    db,
    migrations,
    async start() {
      for (const address of listenAddresses(config)) await claimPort(address)
      return start()
    },
    stop,
  }
}

/** Starts the same command again. If the first process took a free port, the others take that one. */
function forkHttpProcess(config: Config, listening: Listening | undefined): ChildProcess {
  const ports = listening && {
    JETON_PORT: portOf(listening.url),
    ...(config.JETON_MANAGEMENT_PORT !== undefined && {
      JETON_MANAGEMENT_PORT: portOf(listening.managementUrl),
    }),
  }
  return fork(process.argv[1]!, process.argv.slice(2), {
    env: supervisedEnvironment({ ...process.env, ...ports }),
  })
}

const portOf = (url: string): string => new URL(url).port || '80'
