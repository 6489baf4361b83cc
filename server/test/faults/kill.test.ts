import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { Drama } from './drama.ts'
import { Fleet } from './fleet.ts'
import { rounds, TEST_TIMEOUT_MS } from './form.ts'

const PROCESSES = 2
const ROUNDS = 3

eachEngine((engine) => {
  let fleet: Fleet | undefined
  let drama: Drama | undefined
  afterEach(async () => {
    drama?.end()
    await fleet?.end()
  })

  test(
    'processes that are killed at random lose nothing that they have acknowledged',
    async () => {
      const store = await engine.freshStore()
      fleet = await Fleet.start(store.env, PROCESSES)
      const db = await store.open()
      // Whether events arrive all the same is what delivery-kill.test.ts is about.
      const { urls, crashes } = fleet
      drama = await Drama.begin({ fault: 'process killed', engine: engine.name, urls, crashes, db })
      for (const _ of rounds(ROUNDS)) {
        drama.startLoad()
        const [first, second] = drama.random.chance(0.5) ? [0, 1] : [1, 0]
        await drama.acknowledge(drama.random.between(20, 200))
        await drama.strike(async () => {
          await fleet!.kill(first)
          await fleet!.startMissing()
        })
        // Both at once, now and then: then nobody's memory helps.
        await drama.acknowledge(drama.random.between(1, 100))
        await drama.strike(async () => {
          await fleet!.kill(second)
          if (drama!.random.chance(0.5)) await fleet!.kill(first)
          await wait(drama!.random.between(0, 50))
          await fleet!.startMissing()
        })
        await drama.reckon()
      }
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )
})
