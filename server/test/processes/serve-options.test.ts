import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { makeHome, serveBinary } from '../binary.ts'
import { freePort } from '../free-port.ts'
import { OPERATOR, send, startService } from '../service.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function newHome(): string {
  const { folder, remove } = makeHome()
  cleanUps.push(remove)
  return folder
}

async function start(home: string, args: string[], env: Record<string, string> = {}) {
  const running = await serveBinary({ home, args: ['serve', ...args], env })
  cleanUps.push(() => running.stop('SIGKILL'))
  await running.printed(/Ctrl-C/)
  return running
}

test('serve --port takes precedence over JETON_PORT', async () => {
  const port = await freePort()
  const { url } = await start(newHome(), ['--port', String(port)], { JETON_PORT: String(await freePort()) })
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect((await send(`${url}/health/live`)).status).toBe(200)
})

test('serve --port 0 with several processes uses one free port for all', async () => {
  const operator = { JETON_MANAGEMENT_ID: OPERATOR.id, JETON_MANAGEMENT_TOKEN: OPERATOR.token }
  const running = await start(newHome(), ['--port', '0'], { ...operator, JETON_WORKERS: '2' })
  const metric = async () => (await send(`${running.url}/metrics`)).text.match(/^jeton_workers (\d+)$/m)?.[1]
  await expect.poll(metric).toBe('2')
})

test('a start without an operator says so, with the command that creates one', async () => {
  const home = newHome()
  const service = await startService({ JETON_DATA_DIR: join(home, 'data') }, { clock: systemClock })
  await service.project('Left behind')
  await service.service.db.transaction((tx) => sql`delete from operators`.execute(tx.write()))
  await service.stop()
  const running = await start(home, [])
  expect(running.stdout()).toContain('operator    none yet')
  const command = `jeton operator create --local --save --url ${running.url}`
  expect(running.stdout()).toContain(` ${command}\n`)
  expect(running.stdout()).not.toContain('were shown at creation')
})
