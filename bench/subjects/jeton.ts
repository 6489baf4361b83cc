/** Jeton as people start it: the binary, which runs as many workers as its settings say. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { treeUse } from '../process-tree.ts'
import { announce, endOnSignal, receiveTask } from './process.ts'
import { ISSUE_BODY, pairOf } from './protocol.ts'

const BINARY = fileURLToPath(new URL('../../server/bin/jeton.js', import.meta.url))
/** In the summary of SQLite and in the log line of PostgreSQL alike; both come once every worker serves. */
const URL_PRINTED = /http:\/\/127\.0\.0\.1:\d+/

const { clients, env } = await receiveTask()
const home = mkdtempSync(join(tmpdir(), 'jeton-bench-home-'))
const child = spawn(process.execPath, [BINARY, 'serve'], {
  env: { ...process.env, ...env, HOME: home, XDG_CONFIG_HOME: home },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const gone = new Promise((resolve) => child.once('exit', resolve))
process.once('exit', () => {
  child.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

const url = await new Promise<string>((resolve, reject) => {
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    // It goes on being read after that: a full pipe would stop the service.
    said = (said + chunk).slice(-10_000)
    const [found] = URL_PRINTED.exec(said) ?? []
    if (found) resolve(found)
  })
  void gone.then(() => reject(new Error(`Jeton ended: ${said}`)))
})
endOnSignal(async () => {
  child.kill('SIGTERM')
  await gone
})
announce(
  {
    url,
    credentials: clients.map(pairOf),
    issue: { path: '/v1/oauth/token', body: ISSUE_BODY },
    introspect: { path: '/v1/oauth/introspect', body: 'token=' },
  },
  () => treeUse(child.pid!),
)
