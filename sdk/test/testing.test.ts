import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import type { CompletedRedemption } from '../src/index.ts'
import { core, testing } from './installed.ts'

const KIND = 'customer.reward_redemptions.completed'
const data = redemptionData() as CompletedRedemption['data']

test('the test server starts empty, stops, and leaves no files behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-empty-'))
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(folder, { recursive: true, force: true })
  })
  const jeton = await testing.startJeton()
  expect(readdirSync(folder)).toHaveLength(1)
  expect((await jeton.management.projects.list().page()).total).toBe(1)
  await jeton.stop()
  expect(readdirSync(folder)).toEqual([])
  await expect(fetch(jeton.baseUrl)).rejects.toThrow()
})

test('moving the clock of the test server expires tokens at once', async () => {
  await using jeton = await testing.startJeton()
  const key = await jeton.newKey({ permissions: ['rewards'] })
  const source = core.createTokenSource({ baseUrl: jeton.baseUrl, key, scope: ['rewards'] })
  const { value } = await source.get()
  const status = async () =>
    (await fetch(`${jeton.baseUrl}/v1/rewards`, { headers: { authorization: `Bearer ${value}` } })).status
  expect(await status()).toBe(200)
  await jeton.advance(898_000)
  expect(await status()).toBe(200)
  await jeton.advance(2_000)
  expect(await status()).toBe(401)
  await expect(jeton.advance(-1)).rejects.toThrow()
})

test('deliveries of the test server arrive in order, signed, and are retried when the clock moves', async () => {
  const statuses = [503, 500, 204]
  await using jeton = await testing.startJeton({
    deliver: () => new Response(null, { status: statuses.shift() ?? 204 }),
  })
  const project = jeton.management.project(jeton.projectId)
  await project.webhooks.create({ target_url: 'https://hooks.example.com/', events: [KIND] })
  const source = core.createTokenSource({
    baseUrl: jeton.baseUrl,
    key: await jeton.newKey(),
    scope: ['redemptions'],
  })
  const api = core.createFetch(source, { baseUrl: jeton.baseUrl })
  await core.reportRedemption(api, { source_id: 'order-1', data })
  const attempts: (string | null)[] = []
  const attemptsMade = async () => (await project.deliveries.list().page()).data[0]?.attempts_made
  for await (const request of jeton.deliveries) {
    attempts.push(request.headers.get('x-jeton-attempt'))
    if (attempts.length === 3) break
    await expect.poll(attemptsMade).toBe(attempts.length)
    await jeton.advance(3 * 60_000)
  }
  expect(attempts).toEqual(['1', '2', '3'])
  await expect.poll(async () => (await project.deliveries.list().page()).data[0]?.status).toBe('delivered')
})

test('a receiver that throws is recorded as a failed attempt', async () => {
  await using jeton = await testing.startJeton({
    deliver: () => {
      throw new Error('receiver is down')
    },
  })
  const project = jeton.management.project(jeton.projectId)
  const webhook = await project.webhooks.create({ target_url: 'https://hooks.example.com/', events: [KIND] })
  const { attempt } = await project.webhooks.test(webhook.id, { wait_ms: 5_000 })
  expect(attempt?.error).toContain('receiver is down')
})

test('a receiver that never answers does not keep the test server from stopping', async () => {
  const jeton = await testing.startJeton({ deliver: () => new Promise(() => undefined) })
  const project = jeton.management.project(jeton.projectId)
  const webhook = await project.webhooks.create({ target_url: 'https://hooks.example.com/', events: [KIND] })
  const { attempt } = await project.webhooks.test(webhook.id, { wait_ms: 1 })
  expect(attempt).toBeNull()
  await jeton.stop()
})
