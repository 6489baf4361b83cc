/** The whole service as it runs in production: JSON logs at their default level, no terminal. */
import { enableCompileCache } from 'node:module'
import { announce, endOnSignal, receiveTask } from './process.ts'
import { ISSUE_BODY, pairOf } from './protocol.ts'

// As the launcher does it: without the type stripper in memory.
process.env.NODE_COMPILE_CACHE ||= enableCompileCache().directory ?? ''
const { compose } = await import('../../server/src/app/compose.ts')
const { systemClock } = await import('../../server/src/platform/clock.ts')
const { readConfig } = await import('../../server/src/platform/config/index.ts')
const { createLog } = await import('../../server/src/platform/log.ts')

const { clients, env } = await receiveTask()
const config = readConfig(env!)
const log = createLog({ level: config.JETON_LOG_LEVEL, readable: false })
const service = await compose({ config, clock: systemClock, log, interactive: false })
const { url } = await service.start()
endOnSignal(() => service.stop())
announce({
  url,
  credentials: clients.map(pairOf),
  issue: { path: '/v1/oauth/token', body: ISSUE_BODY },
  introspect: { path: '/v1/oauth/introspect', body: 'token=' },
})
