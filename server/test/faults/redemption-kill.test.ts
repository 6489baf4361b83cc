import { afterEach, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { openShop, type Shop } from '../loyalty.ts'
import { readBooks, rush } from '../redemption-rush.ts'
import { createWorld, type World, type WorldProcess } from '../world.ts'
import { rounds, TEST_TIMEOUT_MS } from './form.ts'
import { report } from './report.ts'

/** On each engine, in the short form. */
const KILLS = 5
const REDEMPTIONS_A_ROUND = 12
const PRICE = 7
const STOCK = 1_000_000

eachEngine((engine) => {
  let world: World
  afterEach(() => world.close())

  const requestsOf = (shop: Shop, codes: readonly string[], rewardId: string, round: number) =>
    Array.from({ length: REDEMPTIONS_A_ROUND }, (_, i) => ({
      path: `/loyalties/${shop.campaign.id}/members/${codes[i % codes.length]}/redemption`,
      body: { reward: { id: rewardId } },
      headers: { 'idempotency-key': `${round}.${i}` },
    }))

  /** Earlier and later each time, so that over the rounds it falls into every part of a redemption. */
  const killSoon = ({ child }: WorldProcess, round: number) =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      setTimeout(() => child.kill('SIGKILL'), 2 + ((round * 7) % 40))
    })

  test(
    'a process that is killed in the middle leaves all of a redemption or nothing, and a retry completes it once',
    async () => {
      world = await createWorld(engine, 1)
      const db = await world.store.open()
      let current = world.processes[0]!
      const shop = await openShop(current)
      const reward = await shop.material({ price: PRICE, stock: STOCK })
      const codes = await Promise.all(
        Array.from({ length: 4 }, async () => (await shop.member(STOCK * PRICE)).code),
      )
      // Starting one takes longer than a round: the next ones are on their way meanwhile.
      const start = (): Promise<WorldProcess> => {
        const starting = world.start()
        // Where the test fails meanwhile, nobody waits for it any more.
        starting.catch(() => undefined)
        return starting
      }
      const coming = [start(), start()]
      let [cut, kills] = [0, 0]

      for (const round of rounds(KILLS)) {
        kills++
        const requests = requestsOf(shop, codes, reward.id, round)
        const at = ({ url }: { url: string }) => requests.map((one) => ({ ...one, url }))
        const [answers] = await Promise.all([rush(shop.pair, at(current)), killSoon(current, round)])
        cut += answers.filter(({ status }) => status !== 200).length
        const books = await readBooks(db, reward.id)
        const taken = STOCK - books.stockLeft!
        expect(books).toMatchObject({
          redemptions: taken,
          events: taken,
          redeemed: taken,
          takenByRedemptions: taken * PRICE,
          wrongCards: [],
        })
        coming.push(start())
        current = await coming.shift()!
        let again = await rush(shop.pair, at(current))
        // "Unavailable" tells nothing: whoever hears it on a busy machine asks once more, as callers do.
        for (let tries = 0; tries < 10 && again.some(({ status }) => status === 503); tries++)
          again = await rush(shop.pair, at(current))
        // Who was answered before gets that answer again; who was not gets one now.
        for (const [i, { status, text }] of answers.entries())
          if (status === 200) expect(again[i]!.text).toBe(text)
        expect(again.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
      }
      expect(await readBooks(db, reward.id)).toMatchObject({
        redemptions: kills * REDEMPTIONS_A_ROUND,
        events: kills * REDEMPTIONS_A_ROUND,
        wrongCards: [],
      })
      await Promise.all(coming)
      // Else nothing was in the middle of anything, and this proved nothing.
      expect(cut).toBeGreaterThan(0)
      const done = kills * REDEMPTIONS_A_ROUND
      const row = { fault: 'process killed in a redemption', engine: engine.name, times: kills, lost: 0 }
      report('fault', { ...row, redemptions: done, events: done })
    },
    TEST_TIMEOUT_MS,
  )
})
