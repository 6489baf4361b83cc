/**
 * Executes every instruction of deploy/Dockerfile in a Debian made by debootstrap, then starts the service as the user of the
 * image, and checks health, console, a token, and a stop. Needs root and Linux: apt install debootstrap, npm run trial:image
 */
import type { ChildProcess } from 'node:child_process'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../server/test/free-port.ts'
import { buildImage, type Image, ownerOf } from './build-image.ts'
import { makeBase, run, start } from './debian-root.ts'

const START_WITHIN_MS = 60_000

const say = (line: string): void => void process.stdout.write(`${line}\n`)
const require = (holds: boolean, claim: string): void => {
  if (!holds) throw new Error(`not true: ${claim}`)
  say(`✓ ${claim}`)
}

async function untilHealthy(check: () => Promise<boolean>, service: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + START_WITHIN_MS; Date.now() < deadline; await wait(500)) {
    if (service.exitCode !== null) throw new Error('the service has ended')
    if (await check()) return
  }
  throw new Error('the service did not become healthy')
}

async function useService(url: string, image: Image, settings: Record<string, string>): Promise<void> {
  const page = await fetch(`${url}/console/`)
  require(page.status === 200 &&
    (await page.text()).includes('/console/assets/'), 'the console is in the image')
  const jeton = (...args: string[]) => start(image.container, ['jeton', ...args], { settings })
  const operator = JSON.parse(await text(jeton('operator', 'create', '--local', '--json').stdout!))
  const headers = {
    'x-management-id': operator.id,
    'x-management-token': operator.token,
    'content-type': 'application/json',
  }
  const create = async (path: string, body: object): Promise<Record<string, string>> =>
    (
      await fetch(`${url}/management/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).json() as never
  const project = await create('/projects', { name: 'Club' })
  const key = await create(`/projects/${project.id}/api-keys`, { name: 'till', permissions: ['rewards'] })
  const issued = await fetch(`${url}/v1/oauth/token`, {
    method: 'POST',
    headers: { 'x-app-id': key.app_id, 'x-app-token': key.app_token },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'rewards' }),
  })
  require(issued.status === 200, 'jeton operator create works in the container, and a token is issued')
}

async function tryImage(image: Image): Promise<void> {
  const { container, entrypoint, command, healthCheck, volume } = image
  require(/^[1-9]\d*:[1-9]/.test(container.user), `the image runs as user ${container.user}, not as root`)
  require(ownerOf(join(container.root, volume)) === '1000:1000 700', `${volume} belongs to that user alone`)
  const settings = { JETON_PORT: String(await freePort()), JETON_HOST: '127.0.0.1' }
  const service = start(container, [...entrypoint, ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    settings,
  })
  const ended = new Promise((resolve) => service.once('exit', (code) => resolve(code)))
  try {
    await untilHealthy(async () => (await run(container, healthCheck, settings)) === 0, service)
    say('✓ the health check of the image passes')
    await useService(`http://127.0.0.1:${settings.JETON_PORT}`, image, settings)
  } finally {
    service.kill('SIGTERM')
  }
  require((await ended) === 0, 'SIGTERM stops it with exit code 0')
}

if (process.getuid?.() !== 0) {
  process.stderr.write('The trial requires root, for chroot and mount.\n')
  process.exit(69)
}
const work = mkdtempSync(join(tmpdir(), 'jeton-image-'))
try {
  const base = join(work, 'base')
  say('debootstrap')
  makeBase(base)
  await tryImage(await buildImage({ work, base, say }))
} finally {
  for (const name of readdirSync(work).filter((one) => one.startsWith('stage-')))
    execFileSync('umount', [join(work, name, 'proc')])
  rmSync(work, { recursive: true, force: true })
}
