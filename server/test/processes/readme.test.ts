import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeHome, runBinary, sampleKeyIn, serveBinary } from '../binary.ts'
import { readDocument } from '../documents.ts'
import { freePort } from '../free-port.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

const section = (title: string): string => {
  const from = README.indexOf(`\n## ${title}\n`)
  expect(from, title).toBeGreaterThan(0)
  const to = README.indexOf('\n## ', from + 1)
  return README.slice(from, to < 0 ? undefined : to)
}
/** The commands: the first block sets the variables of the others. */
const [settingBlock = '', ...walkthroughs] = [
  ...section('Three walkthroughs').matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, block]) => block!)

const NODE_RECEIVER = 'node docs/guides/receivers/receiver.mjs &'
/** The other receiver, as the text names it. */
const PYTHON_RECEIVER = /`(python3 \S+ &)`/.exec(section('Three walkthroughs'))![1]!

/** In a process group of its own: whatever a line starts ends with it. */
async function typeInShell(script: string, env: NodeJS.ProcessEnv) {
  const shell = spawn('bash', ['-e', '-c', script], { cwd: ROOT, env, detached: true })
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'exit').finally(() => endGroup(shell.pid!)),
    ])
    return { code, stdout, stderr }
  } finally {
    endGroup(shell.pid!)
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

describe('with a running server', () => {
  let home: ReturnType<typeof makeHome>
  let server: Awaited<ReturnType<typeof serveBinary>>
  beforeEach(async () => {
    home = makeHome()
    server = await serveBinary({ home: home.folder })
    await server.printed(/Ctrl-C/)
    return async () => {
      await server.stop()
      home.remove()
    }
  })

  const hasPython = spawnSync('python3', ['--version']).error === undefined
  const receivers = [NODE_RECEIVER, ...(hasPython ? [PYTHON_RECEIVER] : [])]
  test.each(receivers)('the three walkthroughs of the README work as written: %s', async (receiver) => {
    const { appId: APP_ID, appToken: APP_TOKEN } = sampleKeyIn(server.stdout())
    const set = { JETON_URL: server.url, APP_ID, APP_TOKEN, PORT: String(await freePort()) }
    expect([...settingBlock.matchAll(/(\w+)=/g)].map(([, name]) => name)).toEqual(Object.keys(set))
    expect(walkthroughs).toHaveLength(3)
    for (const walkthrough of walkthroughs)
      expect(walkthrough.trimEnd().split('\n').length).toBeLessThanOrEqual(8)
    expect(walkthroughs[2]).toContain(`\n${NODE_RECEIVER}\n`)

    const env = {
      PATH: process.env.PATH,
      HOME: home.folder,
      XDG_CONFIG_HOME: join(home.folder, '.config'),
      ...set,
    }
    const script = walkthroughs.join('\necho; echo ----\n').replace(NODE_RECEIVER, receiver)
    const { code, stdout, stderr } = await typeInShell(script, env)
    expect(code, stdout + stderr).toBe(0)
    const [issued = '', guarded = '', redeemed = ''] = stdout.split('\n----\n')
    expect(JSON.parse(issued)).toMatchObject({ active: true, scope: 'loyalties rewards' })
    expect(guarded).toMatch(/HTTP\/1\.1 200 OK[\s\S]*x-jeton-scope: loyalties rewards/i)
    expect(guarded).toContain('"key":"insufficient_scope"')
    expect(guarded).toMatch(/GET \/v1\/campaigns +refused/)
    expect(redeemed).toContain('"object":"redemption"')
    const [, event] = /customer\.reward_redemptions\.completed\t(evcus_\w+)\t204/.exec(redeemed)!
    expect(redeemed).toMatch(new RegExp(`processed whs_\\w+ .* ${event} `))
  })

  test('the output of the tour is the one shown, except for times and ids', async () => {
    const tour = runBinary({ home: home.folder, args: ['tour'], env: { npm_command: 'exec' } })
    expect(await tour.ended).toBe(0)
    const shown = [...section('See it work').matchAll(/^ {4}(.*)$|^$/gm)]
      .map(([, line]) => line ?? '')
      .join('\n')
    expect(normalized(shown)).toEqual(normalized(tour.stdout()))
  })
})

/** Without what differs from run to run and from machine to machine. */
const normalized = (text: string): string[] =>
  text
    .replace(/v-[0-9a-f]{18}/g, 'v-…')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:…')
    .replace(/[\d.]+ (ms|s)\b/g, '… $1')
    .replace(/Retry-After: \d+/g, 'Retry-After: …')
    .replace(/Recorded: the name .*/g, 'Recorded: …')
    .split('\n')
    .map((line) => line.trim().replace(/ +/g, ' '))
    .filter(Boolean)

test('doctor --production checks the list of the README, or says that it cannot', async () => {
  const home = makeHome()
  await runBinary({ home: home.folder, args: ['migrate'] }).ended
  // Set explicitly: the environment of this shell is unknown.
  const env = { JETON_HOST: '127.0.0.1', JETON_TRUSTED_PROXIES: '', JETON_WEBHOOK_ALLOW: '' }
  const doctor = runBinary({ home: home.folder, args: ['doctor', '--production', '--json'], env })
  await doctor.ended
  const checks = JSON.parse(doctor.stdout()).checks as { name: string; result: string }[]
  const { text } = readDocument('docs/operate/deploy.md')
  const list = text.slice(text.indexOf('## Before going live'), text.indexOf('## Deployment files'))
  const ticks = [...list.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)]
  expect(ticks).toHaveLength(10)
  for (const [, name, says] of ticks) {
    const check = checks.find((one) => one.name === name)
    expect(check, name).toBeDefined()
    expect(check!.result === 'unknown', name).toBe(says!.includes('(Not checked'))
  }
  home.remove()
})

test('every link of the README leads to a file', () => {
  const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path!)
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})
