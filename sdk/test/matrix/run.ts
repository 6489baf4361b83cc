/** Runs the packed SDK on every runtime against one real server, and prints a table. Downloads the runtimes with npm. */
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { redemptionData } from '../../../server/test/reported-redemption.ts'
import type { TestJeton } from '../../src/testing/index.ts'
import { addServer, FRAMEWORKS, install, link, pack } from '../packages.ts'
import { installRuntime, RUNTIMES, type Runtime } from './runtimes.ts'

const EXAMPLES = ['express-api.js', 'fastify-api.js', 'hono-api.js']
const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'jeton-matrix-'))
const project = join(folder, 'project')

function prepareProject(): void {
  install(project, pack('sdk', folder))
  addServer(project, pack('server', folder))
  for (const name of FRAMEWORKS) link(project, name)
  cpSync(file('./smoke.mjs'), join(project, 'smoke.mjs'))
  cpSync(file('../../examples'), join(project, 'examples'), { recursive: true })
}

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function startServers(): Promise<{ jeton: TestJeton; env: NodeJS.ProcessEnv }> {
  const entry = createRequire(join(project, 'x.js')).resolve('@jeton/sdk/testing')
  const { startJeton } = (await import(
    pathToFileURL(entry).href
  )) as typeof import('../../src/testing/index.ts')
  const jeton = await startJeton()
  const operator = await jeton.management.operators.create({ name: 'matrix', role: 'admin' })
  const { appId, appToken } = await jeton.newKey()
  const hanging = await listen(() => undefined)
  const redirect = await listen((_, response) => response.writeHead(302, { location: hanging }).end())
  const env = {
    ...process.env,
    JETON_URL: jeton.baseUrl,
    JETON_PROJECT_ID: jeton.projectId,
    PROJECT_ID: jeton.projectId,
    MANAGEMENT_ID: operator.id,
    MANAGEMENT_TOKEN: operator.token.reveal(),
    APP_ID: appId,
    APP_TOKEN: appToken,
    HANGING_URL: hanging,
    REDIRECT_URL: redirect,
    DATA: JSON.stringify(redemptionData()),
    PORT: '0',
  }
  return { jeton, env }
}

const start = (program: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess =>
  spawn(program, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] })

async function runSmoke(program: string, { args }: Runtime, env: NodeJS.ProcessEnv): Promise<string[]> {
  const child = start(program, [...args, join(project, 'smoke.mjs')], env)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout! })) lines.push(line)
  const code = await ended
  return code === 0 || lines.some((line) => line.startsWith('failed'))
    ? lines
    : [...lines, `failed  exit code ${code}`]
}

/** Starts an example and calls it with a token and without. */
async function runExample(program: string, name: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = start(program, [join(project, 'examples', name)], env)
  try {
    for await (const line of createInterface({ input: child.stdout! })) {
      const [, url] = /^listening on (\S+)$/.exec(line) ?? []
      if (!url) continue
      const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'rewards' })
      const headers = { 'x-app-id': env.APP_ID!, 'x-app-token': env.APP_TOKEN! }
      const issued = await fetch(`${env.JETON_URL}/v1/oauth/token`, { method: 'POST', headers, body })
      const { access_token: token } = (await issued.json()) as { access_token: string }
      const allowed = await fetch(`${url}/rewards`, { headers: { authorization: `Bearer ${token}` } })
      const refused = await fetch(`${url}/rewards`)
      const isRight = allowed.status === 200 && refused.status === 401
      return isRight ? `ok      ${name}` : `failed  ${name}: ${allowed.status}, ${refused.status}`
    }
    return `failed  ${name}: it did not start`
  } finally {
    child.kill('SIGKILL')
  }
}

async function runOn(runtime: Runtime, env: NodeJS.ProcessEnv): Promise<string[]> {
  const installed = installRuntime(join(folder, runtime.name.replace(' ', '-')), runtime)
  if ('reason' in installed) return [`absent  ${installed.reason}`]
  const lines = await runSmoke(installed.program, runtime, env)
  if (!runtime.runsExamples) return lines
  for (const name of EXAMPLES) lines.push(await runExample(installed.program, name, env))
  return lines
}

try {
  prepareProject()
  const { jeton, env } = await startServers()
  for (const runtime of RUNTIMES) {
    const printed = await runOn(runtime, env)
    const version = printed.find((line) => line.startsWith('version'))?.slice('version '.length)
    const lines = printed.filter((line) => !line.startsWith('version'))
    const passed = lines.filter((line) => line.startsWith('ok')).length
    process.stdout.write(
      `\n${version ?? runtime.name}: ${passed} of ${lines.length}\n${lines.map((line) => `  ${line}\n`).join('')}`,
    )
    if (passed < lines.length) process.exitCode = 1
  }
  await jeton.stop()
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
