import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeHome, runBinary, sampleKeyIn, serveBinary } from '../binary.ts'
import { type Receiver, startReceiver } from '../receiver.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const run = promisify(execFile)

const section = (title: string): string => {
  const from = README.indexOf(`\n## ${title}\n`)
  expect(from, title).toBeGreaterThan(0)
  const to = README.indexOf('\n## ', from + 1)
  return README.slice(from, to < 0 ? undefined : to)
}
/** What is to be typed: the first block sets what the others use. */
const [settingBlock = '', ...journeys] = [...section('Three journeys').matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, block]) => block!,
)

describe('beside a server as people start it', () => {
  const home = makeHome()
  let server: Awaited<ReturnType<typeof serveBinary>>
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    server = await serveBinary({ home: home.folder })
    await server.printed(/Ctrl-C/)
  })
  afterAll(async () => {
    await server.stop()
    await receiver.close()
    home.remove()
  })

  test('the three journeys lead where they say, typed as they stand', async () => {
    const { appId: APP_ID, appToken: APP_TOKEN } = sampleKeyIn(server.stdout())
    const RECEIVER = receiver.url.replace('http://', '')
    const set = { JETON_URL: server.url, APP_ID, APP_TOKEN, RECEIVER }
    expect([...settingBlock.matchAll(/(\w+)=/g)].map(([, name]) => name)).toEqual(Object.keys(set))
    expect(journeys).toHaveLength(3)
    for (const journey of journeys) expect(journey.trimEnd().split('\n').length).toBeLessThanOrEqual(6)

    const env = {
      PATH: process.env.PATH,
      HOME: home.folder,
      XDG_CONFIG_HOME: join(home.folder, '.config'),
      ...set,
    }
    const script = journeys.join('\necho; echo ----\n')
    const { stdout } = await run('bash', ['-e', '-c', script], { cwd: ROOT, env })
    const [issued = '', guarded = '', redeemed = ''] = stdout.split('\n----\n')
    expect(JSON.parse(issued)).toMatchObject({ active: true, scope: 'loyalties rewards' })
    expect(guarded).toMatch(/HTTP\/1\.1 200 OK[\s\S]*x-jeton-scope: loyalties rewards/i)
    expect(guarded).toContain('"key":"insufficient_scope"')
    expect(guarded).toMatch(/GET \/v1\/campaigns +refused/)
    expect(redeemed).toContain('"object":"redemption"')
    expect(redeemed).toMatch(/customer\.reward_redemptions\.completed\tevcus_\w+\t204/)
    expect(receiver.received).toHaveLength(1)
    expect(receiver.received[0]!.payload.data.reward).toMatchObject({ name: 'Mug' })
  })

  test('the tour is what is shown, but for times and ids', async () => {
    const tour = runBinary({ home: home.folder, args: ['tour'] })
    expect(await tour.ended).toBe(0)
    const shown = [...section('What you see').matchAll(/^ {4}(.*)$|^$/gm)]
      .map(([, line]) => line ?? '')
      .join('\n')
    expect(told(shown)).toEqual(told(tour.stdout()))
  })
})

/** Without what differs from run to run and from machine to machine. */
const told = (text: string): string[] =>
  text
    .replace(/v-[0-9a-f]{18}/g, 'v-…')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:…')
    .replace(/[\d.]+ (ms|s)\b/g, '… $1')
    .replace(/Retry-After: \d+/g, 'Retry-After: …')
    .replace(/On record: the name .*/g, 'On record: …')
    .split('\n')
    .map((line) => line.trim().replace(/ +/g, ' '))
    .filter(Boolean)

test('every promise names a test that is there', () => {
  const rows = section('What it promises').match(/^\| (?!promise|---).+$/gm)!
  expect(rows.length).toBeGreaterThan(10)
  for (const row of rows) {
    const [, shown, path, title] = /\| \[`([^`]+)`\]\(([^)]+)\) "([^"]+)" \|$/.exec(row) ?? []
    expect(path?.endsWith(`/${shown}`), row).toBe(true)
    const text = readFileSync(join(ROOT, path!), 'utf8')
    // As the title of a test, and not only somewhere in its text.
    const isTitle = [`'${title}`, `"${title}`, `\`${title}`].some((quoted) => text.includes(quoted))
    expect(isTitle, row).toBe(true)
  }
})

test('every tick before production is one that the doctor looks at, or says that it cannot', async () => {
  const home = makeHome()
  const doctor = runBinary({ home: home.folder, args: ['doctor', '--production', '--json'] })
  await doctor.ended
  const checks = JSON.parse(doctor.stdout()).checks as { name: string; result: string }[]
  const ticks = [...section('Before production').matchAll(/^\d+\. `([^`]+)`: ([\s\S]*?)(?=\n\d+\. |\n*$)/gm)]
  expect(ticks).toHaveLength(10)
  for (const [, name, says] of ticks) {
    const check = checks.find((one) => one.name === name)
    expect(check, name).toBeDefined()
    expect(check!.result === 'unseen', name).toBe(says!.includes('(Yours to see to'))
  }
  home.remove()
})

test('every link leads to a file that is there, and the map has eight lines', () => {
  const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path!)
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  expect(section('Map of the docs').match(/^- /gm)).toHaveLength(8)
})
