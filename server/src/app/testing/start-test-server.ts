import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CREDENTIAL_PREFIX, ID_PREFIX } from '../../contract/ids.ts'
import { readConfig, serviceSettings } from '../../platform/config/index.ts'
import { createLog } from '../../platform/log.ts'
import { newCredential, newId, randomBytes } from '../../platform/secrets.ts'
import { compose } from '../compose.ts'
import { type Deliver, InProcessSender } from './in-process-sender.ts'
import { MovableClock } from './movable-clock.ts'

export interface TestServerOptions {
  /** JETON_* settings. */
  readonly env?: Readonly<Record<string, string>>
  /** Receives every delivery and answers it. Default: 204. */
  readonly deliver?: Deliver
}

export interface TestServer {
  readonly url: string
  readonly operator: { readonly id: string; readonly token: string }
  /** The server's time in epoch milliseconds. */
  now(): number
  /** Moves the server's time. Expired tokens are inactive and retries are due when it resolves. */
  advance(ms: number): Promise<void>
  /** The next delivery, also while it is answered; undefined after the end. */
  nextDelivery(): Promise<Request | undefined>
  stop(): Promise<void>
}

/**
 * Starts the service for tests of other programs: the real one, on a free port, with an empty SQLite store in a temporary
 * folder. Deliveries are handed over in this process. Callers on this machine may name the address of their own caller, as
 * a trusted proxy does.
 */
export async function startTestServer({
  env = {},
  deliver = () => new Response(null, { status: 204 }),
}: TestServerOptions = {}): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-test-server-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const operator = {
    id: newId(randomBytes, ID_PREFIX.operator),
    token: newCredential(randomBytes, CREDENTIAL_PREFIX.management_token),
  }
  const environment = {
    JETON_HOST: '127.0.0.1',
    JETON_PORT: '0',
    JETON_DATA_DIR: folder,
    JETON_MANAGEMENT_ID: operator.id,
    JETON_MANAGEMENT_TOKEN: operator.token,
    JETON_SAMPLE: 'off',
    JETON_TRUSTED_PROXIES: '127.0.0.1',
    JETON_WEBHOOK_ALLOW: '127.0.0.0/8,::1',
    ...env,
  }
  const clock = new MovableClock()
  const sender = new InProcessSender(deliver)
  const service = await compose({
    config: readConfig(environment),
    settings: serviceSettings(environment),
    clock,
    log: createLog({ level: 'silent', readable: false }),
    interactive: false,
    sender,
  }).catch((error) => {
    removeFolder()
    throw error
  })
  const { url } = await service.start()
  return {
    url,
    operator,
    now: clock.now,
    async advance(ms) {
      clock.move(ms)
      await service.changeFeed.pollChanges()
    },
    nextDelivery: () => sender.next(),
    async stop() {
      await service.stop()
      removeFolder()
    },
  }
}
