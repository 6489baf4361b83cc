import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleKeyIn } from '../binary.ts'
import { jetonProcess, newFolder, spawnJeton } from '../command-line.ts'

let folder: string
let config: string
let child: ReturnType<typeof spawnJeton>
let printed = ''

/** The service as a person starts it for the first time. */
beforeAll(async () => {
  folder = newFolder('sample')
  config = join(folder, 'config')
  child = spawnJeton(['serve'], {
    JETON_DATA_DIR: join(folder, 'data'),
    XDG_CONFIG_HOME: config,
    JETON_PORT: '0',
  })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`ended with ${code}\n${printed}`)))
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Ctrl-C')) resolve()
    })
  })
})
afterAll(async () => {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

const typed = (...argv: string[]) => jetonProcess(argv, { XDG_CONFIG_HOME: config })
/** The text below a step, up to the next blank line. */
const step = (number: number) => {
  const from = printed.indexOf('curl', printed.indexOf(`\n  ${number}  `))
  return printed.slice(from, printed.indexOf('\n\n', from))
}
const pasted = (command: string, env: object = {}) =>
  JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8', env: { ...process.env, ...env } }))

test('the steps that the first start prints redeem a mug when they are pasted', () => {
  expect(printed).toContain('a customer with 500 points, 40 mugs at 100 points')
  const { access_token: TOKEN } = pasted(step(1))
  expect(pasted(step(3), { TOKEN })).toMatchObject({
    object: 'redemption',
    amount: 100,
    result: 'SUCCESS',
    voucher: { code: 'SAMPLE-1', loyalty_card: { points: 500, balance: 400 } },
    reward: { name: 'Mug', product: { name: 'Mug' } },
  })
})

test('jeton redeem takes the name of a reward, and the lists show the result', async () => {
  const { code, out } = await typed('redeem', 'SAMPLE-1', 'Mug')
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^r_\w+ {3}Mug {3}100 points, 300 left\n$/),
  })
  expect((await typed('reward', 'list')).out).toMatch(/^rew_\w+\tMug\tMATERIAL\t38\t2\t\S+\n$/)
  expect((await typed('member', 'list', '--campaign', 'Sample club')).out).toMatch(
    /^SAMPLE-1\tSample club\tcust_\w+\t300\ttrue\t\S+\n$/,
  )
  expect((await typed('customer', 'list')).out).toMatch(
    /\tsample-customer\tAda Sample\tada@example.com\t300\t/,
  )
  expect((await typed('campaign', 'list', '--quiet')).out).toMatch(/^camp_\w+\n$/)
  expect(JSON.parse((await typed('member', 'show', 'SAMPLE-1', '--json')).out)).toMatchObject({
    loyalty_card: { balance: 300 },
  })
})

test('jeton redeem reports an unknown reward or too few points in one line', async () => {
  expect(await typed('redeem', 'SAMPLE-1', 'Mgu')).toMatchObject({
    code: 3,
    err: 'SAMPLE-1 cannot redeem "Mgu". Did you mean Mug?\n',
  })
  expect(await typed('redeem', 'SAMPLE-1', 'Bicycle')).toMatchObject({
    code: 3,
    err: 'SAMPLE-1 cannot redeem "Bicycle". Available: Mug (100 points).\n',
  })
  expect((await typed('redeem', 'NOBODY', 'Mug')).code).toBe(3)
  for (let i = 0; i < 3; i++) await typed('redeem', 'SAMPLE-1', 'Mug')
  expect(await typed('redeem', 'SAMPLE-1', 'Mug')).toMatchObject({
    code: 1,
    err: expect.stringContaining('The card holds 0 points; 100 are required.'),
  })
})

test('the saved key pair is readable by its owner only, and --curl does not show it', async () => {
  const file = join(config, 'jeton', 'config.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const [profile] = Object.values(JSON.parse(readFileSync(file, 'utf8')).servers) as {
    keys: Record<string, { app_token: string }>
  }[]
  expect(sampleKeyIn(printed).appToken).toBe(Object.values(profile!.keys)[0]!.app_token)
  const { out } = await typed('redeem', 'SAMPLE-1', 'Mug', '--curl')
  expect(out).toMatch(/-d '\{"reward":\{"id":"rew_\w+"\}\}'/)
  expect(out).not.toContain('jta_')
})
