import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { snippetsFor } from '../../console/src/pages/api-keys/snippets.ts'
import { freePort } from '../../server/test/free-port.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { testing } from './installed.ts'

const MAX_LINES = 10

const samplesOf = (path: string): string[] => {
  const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const samples = [...text.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, sample]) => sample!)
  return samples.filter((sample) => sample.includes('@jeton/sdk'))
}

let jeton: TestJeton
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  jeton = await testing.startJeton()
  const { appId, appToken } = await jeton.newKey()
  const operator = await jeton.management.operators.create({ name: 'reader', role: 'admin' })
  env = {
    ...process.env,
    JETON_URL: jeton.baseUrl,
    PROJECT_ID: jeton.projectId,
    APP_ID: appId,
    APP_TOKEN: appToken,
    MANAGEMENT_ID: operator.id,
    MANAGEMENT_TOKEN: operator.token.reveal(),
    WEBHOOK_SECRET: `whsec_${'A'.repeat(44)}`,
  }
})
afterAll(() => jeton.stop())

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** Runs a sample until it ends or listens. Returns what it printed. */
async function run(sample: string, name: string): Promise<{ outcome: string; printed: string }> {
  const file = join(inject('sdkProject'), name)
  writeFileSync(file, sample)
  const port = await freePort()
  const child = spawn(process.execPath, [file], { env: { ...env, PORT: String(port) } })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const exited = new Promise<string>((resolve) => child.once('exit', (code) => resolve(`ended with ${code}`)))
  const listening = expect.poll(() => isListening(port), { timeout: 60_000 }).toBe(true)
  const outcome = await Promise.race([exited, listening.then(() => 'listens')])
  listening.catch(() => undefined)
  child.kill('SIGKILL')
  await exited
  return { outcome, printed }
}

describe.each(['README.md', 'docs/guides/sdk.md'])('%s', (path) => {
  const samples = samplesOf(path).map((sample, index) => [index + 1, sample] as const)

  test('has samples of the SDK, each of at most ten lines', () => {
    expect(samples.length).toBeGreaterThanOrEqual(3)
    for (const [, sample] of samples)
      expect(sample.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES)
  })

  test.each(samples)('sample %i runs as written', async (number, sample) => {
    const { outcome, printed } = await run(sample, `${path.replaceAll(/\W/g, '-')}-${number}.mjs`)
    expect(outcome, printed).toBe(sample.includes('listen(') ? 'listens' : 'ended with 0')
    expect(printed).not.toContain('jta_')
  })
})

test('the snippet of the console for a key runs as written', async () => {
  const key = { name: 'shop', app_id: env.APP_ID!, permissions: ['rewards'] }
  const text = snippetsFor(key, jeton.baseUrl, env.APP_TOKEN).find(({ id }) => id === 'sdk')!.text
  const { outcome, printed } = await run(
    `${text}\nprocess.exit(response.status === 200 ? 0 : 1)\n`,
    'console.mjs',
  )
  expect(outcome, printed).toBe('ended with 0')
})
