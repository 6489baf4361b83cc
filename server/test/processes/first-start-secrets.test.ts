import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { BINARY, makeHome, type Running, serveBinary } from '../binary.ts'
import { signIn } from '../operators.ts'
import { OPERATOR } from '../service.ts'

const SECRET = /jt[almn]_[\w-]{8,}/

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function newHome(): string {
  const { folder, remove } = makeHome()
  cleanUps.push(remove)
  return folder
}

async function firstStart(home: string, env: Record<string, string> = {}) {
  const running = await serveBinary({ home, env })
  cleanUps.push(() => running.stop('SIGKILL'))
  await running.printed(/Ctrl-C/)
  return running
}

const everythingSaid = (running: Running): string => running.stdout() + running.stderr()

/** The commands that begin with `curl`, each with the lines that continue it. */
const curlCommandsIn = (printed: string): string[] =>
  printed.match(/^ *curl(?:.*\\\n)*.*$/gm)!.map((command) => command.trim())

const paste = (command: string, env: Record<string, string> = {}) => {
  const { stdout, status } = spawnSync('bash', ['-c', command], {
    cwd: '/',
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
  })
  expect(status).toBe(0)
  return JSON.parse(stdout)
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

test.each([
  ['with an operator of its own', {}],
  [
    'with an operator from the settings',
    { JETON_MANAGEMENT_ID: OPERATOR.id, JETON_MANAGEMENT_TOKEN: OPERATOR.token },
  ],
])(
  'without a terminal the first start, %s, prints no secret, and its commands work when pasted',
  async (_, env) => {
    const home = newHome()
    const folder = join(home, "data of 'mine'")
    const running = await firstStart(home, { ...env, JETON_DATA_DIR: folder })
    const file = join(folder, 'sample-app-token')
    const appToken = readFileSync(file, 'utf8').trim()
    expect(appToken).toMatch(/^jta_/)
    expect(modeOf(file)).toBe('600')
    const said = everythingSaid(running)
    const key = readFileSync(join(folder, 'encryption.key'), 'utf8').trim()
    for (const secret of [appToken, OPERATOR.token, key]) expect(said).not.toContain(secret)
    expect(said).not.toMatch(SECRET)
    const [issue, redeem, ...others] = curlCommandsIn(said)
    expect(others).toEqual([])
    const { access_token: TOKEN } = paste(issue!)
    expect(TOKEN).toMatch(/^jtn_/)
    expect(paste(redeem!, { TOKEN })).toMatchObject({ object: 'redemption' })
  },
)

test('a first start without a terminal and without a home writes the operator credential to a file that only its owner can read', async () => {
  const home = newHome()
  const folder = join(home, 'data')
  mkdirSync(folder, { mode: 0o700 })
  for (const name of ['operator.json', 'sample-app-token']) {
    writeFileSync(join(folder, name), 'left by someone')
    chmodSync(join(folder, name), 0o644)
  }
  writeFileSync(join(home, 'no-folder'), '')
  const running = await firstStart(home, { XDG_CONFIG_HOME: join(home, 'no-folder') })
  const { management_token } = JSON.parse(readFileSync(join(folder, 'operator.json'), 'utf8'))
  expect(management_token).toMatch(/^jtm_/)
  expect([modeOf(join(folder, 'operator.json')), modeOf(join(folder, 'sample-app-token'))]).toEqual([
    '600',
    '600',
  ])
  expect(everythingSaid(running)).not.toMatch(SECRET)
  expect(running.stdout()).toContain(join('data', 'operator.json'))
})

const hasScript = spawnSync('script', ['--version']).status === 0

// script(1) of util-linux gives a program a terminal; other systems lack it or take other options.
test.skipIf(!hasScript)(
  'a first start in a terminal shows its secrets once and writes them to no file',
  async () => {
    const home = newHome()
    const child = spawn('script', ['-qefc', `exec ${process.execPath} ${BINARY} serve`, '/dev/null'], {
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, '.config'), JETON_PORT: '0' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    cleanUps.push(() => child.kill('SIGKILL'))
    let shown = ''
    await new Promise<void>((resolve) =>
      child.stdout.on('data', (chunk) => {
        shown += String(chunk).replaceAll('\r', '')
        if (shown.includes('Ctrl-C')) resolve()
      }),
    )
    expect(shown).toMatch(/Shown once\n {2}operator +\S+ {2}jtm_\S+\n {2}API key +\S+ {2}jta_\S+/)
    expect(paste(curlCommandsIn(shown)[0]!)).toMatchObject({ token_type: 'Bearer' })
    expect(existsSync(join(home, 'data', 'sample-app-token'))).toBe(false)
    const [, url, code] = /console +(\S+)\/console\/#code=(jtl_\S+)\n/.exec(shown)!
    const statuses = [await signIn(url!, { code }), await signIn(url!, { code })].map(({ status }) => status)
    expect(statuses, 'the link works once').toEqual([201, 401])
    // Ctrl-C, as typed.
    child.stdin.write('\u0003')
    await ended
  },
)
