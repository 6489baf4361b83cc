import { afterEach, expect, test } from 'vitest'
import { postConcurrently, readTotals } from '../concurrent-redemptions.ts'
import { eachEngine } from '../engines.ts'
import { openShop, type Shop } from '../loyalty.ts'
import { type MultiProcess, type ServiceProcess, startProcesses } from '../multi-process.ts'
import { report } from './report.ts'
import { rounds, TEST_TIMEOUT_MS } from './run-settings.ts'

/** Number of kills on each engine in the short form. */
const KILLS = 4
const REDEMPTIONS_A_ROUND = 12
const PRICE = 7
const STOCK = 1_000_000

eachEngine((engine) => {
  let multiProcess: MultiProcess
  afterEach(() => multiProcess.close())

  const requestsOf = (shop: Shop, codes: readonly string[], rewardId: string, round: number) =>
    Array.from({ length: REDEMPTIONS_A_ROUND }, (_, i) => ({
      path: `/loyalties/${shop.campaign.id}/members/${codes[i % codes.length]}/redemption`,
      body: { reward: { id: rewardId } },
      headers: { 'idempotency-key': `${round}.${i}` },
    }))

  /** Kills after a different delay each time, so that the kills interrupt every part of a redemption. */
  const killSoon = ({ child }: ServiceProcess, round: number) =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      setTimeout(() => child.kill('SIGKILL'), 2 + ((round * 7) % 40))
    })

  test(
    'a process that is killed during a redemption leaves all of it or nothing, and a retry completes it once',
    async () => {
      multiProcess = await startProcesses(engine, 1)
      const db = await multiProcess.store.open()
      let current = multiProcess.processes[0]!
      const shop = await openShop(current)
      const reward = await shop.material({ price: PRICE, stock: STOCK })
      const codes = await Promise.all(
        Array.from({ length: 4 }, async () => (await shop.member(STOCK * PRICE)).code),
      )
      // A start takes longer than a round, so two processes are started ahead.
      const start = (): Promise<ServiceProcess> => {
        const starting = multiProcess.start()
        // If the test fails meanwhile, nobody awaits this promise.
        starting.catch(() => undefined)
        return starting
      }
      const startedAhead = [start(), start()]
      let [interrupted, kills] = [0, 0]

      for (const round of rounds(KILLS)) {
        kills++
        const requests = requestsOf(shop, codes, reward.id, round)
        const at = ({ url }: { url: string }) => requests.map((one) => ({ ...one, url }))
        const [answers] = await Promise.all([
          postConcurrently(shop.pair, at(current)),
          killSoon(current, round),
        ])
        interrupted += answers.filter(({ status }) => status !== 200).length
        const totals = await readTotals(db, reward.id)
        const taken = STOCK - totals.stockLeft!
        expect(totals).toMatchObject({
          redemptions: taken,
          events: taken,
          redeemed: taken,
          takenByRedemptions: taken * PRICE,
          wrongCards: [],
        })
        startedAhead.push(start())
        current = await startedAhead.shift()!
        let retried = await postConcurrently(shop.pair, at(current))
        // A busy machine may return 503. Clients retry.
        for (let tries = 0; tries < 10 && retried.some(({ status }) => status === 503); tries++)
          retried = await postConcurrently(shop.pair, at(current))
        // A retry gets the earlier response retried, or its first one now.
        for (const [i, { status, text }] of answers.entries())
          if (status === 200) expect(retried[i]!.text).toBe(text)
        expect(retried.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
      }
      expect(await readTotals(db, reward.id)).toMatchObject({
        redemptions: kills * REDEMPTIONS_A_ROUND,
        events: kills * REDEMPTIONS_A_ROUND,
        wrongCards: [],
      })
      await Promise.all(startedAhead)
      // Some requests were interrupted. Otherwise the test would prove nothing.
      expect(interrupted).toBeGreaterThan(0)
      const done = kills * REDEMPTIONS_A_ROUND
      const row = { fault: 'process killed in a redemption', engine: engine.name, times: kills, lost: 0 }
      report('fault', { ...row, redemptions: done, events: done })
    },
    TEST_TIMEOUT_MS,
  )
})
