import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { type MultiProcess, startProcesses } from '../multi-process.ts'
import { type Receiver, startReceiver } from '../receiver.ts'

const ENV = {
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  JETON_NOTICE_SECRET: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
}

eachEngine((engine) => {
  let processes: MultiProcess
  let receiver: Receiver
  beforeEach(async () => {
    receiver = await startReceiver()
    processes = await startProcesses(engine, 3, { ...ENV, JETON_NOTICE_URL: receiver.url })
  })
  afterEach(async () => {
    await processes.close()
    await receiver.close()
  })

  /** Those of other subjects are left out: time that a test moves makes a process look stale. */
  const typesOf = (id: string): string[] =>
    receiver.received
      .filter(({ payload }) => payload.data.subject.id === id)
      .map(({ payload }) => `${payload.type} ${payload.data.kind}`)
  const arrived = (id: string, count: number) =>
    expect
      .poll(async () => {
        await processes.advance(20_000)
        return typesOf(id).length
      })
      .toBeGreaterThanOrEqual(count)
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20_000) await processes.advance(20_000)
  }

  describe('three processes on one store', () => {
    test('a problem that one process has seen is reported once, and its end too, after that process was killed', async () => {
      const [first, second, third] = processes.processes
      const { id } = await first!.project('Refused')
      const key = await first!.key(id)
      await first!.manage('POST', `${key.path}/block`)
      for (let i = 0; i < 60; i++) expect((await third!.issue(key)).status).toBe(401)
      await arrived(id, 1)
      await pass(120_000)
      expect(typesOf(id)).toEqual(['attention.started refusals.jump'])
      await processes.kill(third!)
      // Ten minutes after the last refusal.
      await arrived(id, 2)
      await pass(120_000)
      expect(typesOf(id)).toEqual(['attention.started refusals.jump', 'attention.ended refusals.jump'])
      for (const process of [first!, second!]) {
        const { body } = await process.manage('GET', `/projects/${id}/attention`)
        expect(body.data).toEqual([])
      }
    })
  })
})
