import { afterEach, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { createWorld, type World } from '../world.ts'
import { Drama } from './drama.ts'
import { rounds, TEST_TIMEOUT_MS } from './form.ts'
import { SMALL_LIMIT } from './stage.ts'

const PROCESSES = 2
const ROUNDS = 5
/** Less than the day for which idempotency keys are kept: beyond it a retry is rightly a new request. */
const FAR_MS = 4 * 60 * 60_000

eachEngine((engine) => {
  let world: World | undefined
  let drama: Drama | undefined
  afterEach(async () => {
    drama?.end()
    await world?.close()
  })

  test(
    'clocks that differ and jump overstep no limit, bring no token back, and lose nothing',
    async () => {
      world = await createWorld(engine, PROCESSES)
      const { processes, store } = world
      const db = await store.open()
      const urls = () => processes.map(({ url }) => url)
      drama = await Drama.begin({ fault: 'clocks differ and jump', engine: engine.name, urls, db })
      const { random, stage, load } = drama
      const over = new Set<string>()

      async function jump(): Promise<void> {
        const now = world!.now()
        for (const process of processes)
          if (random.chance(0.7))
            await process.tell({ kind: 'set', now: now + random.between(-FAR_MS, FAR_MS) })
        if (random.chance(0.7)) await world!.setStoreTime(now + random.between(-FAR_MS, FAR_MS))
        if (random.chance(0.5)) await world!.advance(random.between(1, 5_000))
      }

      for (const _ of rounds(ROUNDS)) {
        drama.startLoad()
        await drama.acknowledge(random.between(50, 150))
        await drama.strike(jump)
        await drama.acknowledge(random.between(20, 60))
        await drama.reckon()

        // A change that was dated by another clock may be missed by every look; nothing is believed for longer than this.
        await world.advance(30_001)
        for (const { url } of processes) {
          let activeOfSmall = 0
          for (const entry of load.ledger.tokens.slice(-400)) {
            const { body, status } = await load.introspect(entry.token, url)
            expect(status).toBe(200)
            if (body.active && entry.keyId === stage.small.id) activeOfSmall++
            if (body.active) expect(over.has(`${url} ${entry.token}`), 'a token came back').toBe(false)
            else over.add(`${url} ${entry.token}`)
            if (load.ledger.stateOf(entry) === 'dead') expect(body.active).toBe(false)
          }
          expect(activeOfSmall).toBeLessThanOrEqual(SMALL_LIMIT)
        }
      }
    },
    TEST_TIMEOUT_MS,
  )
})
