import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { FaultScenario } from './fault-scenario.ts'
import { Fleet } from './fleet.ts'
import { rounds, TEST_TIMEOUT_MS } from './run-settings.ts'

const PROCESSES = 2
const ROUNDS = 2

eachEngine((engine) => {
  let fleet: Fleet | undefined
  let scenario: FaultScenario | undefined
  afterEach(async () => {
    scenario?.end()
    await fleet?.end()
  })

  test(
    'processes that are killed at random lose no acknowledged write',
    async () => {
      const store = await engine.freshStore()
      fleet = await Fleet.start(store.env, PROCESSES)
      const db = await store.open()
      // delivery-kill.test.ts proves that the events still arrive.
      const { urls, crashes } = fleet
      scenario = await FaultScenario.start({
        fault: 'process killed',
        engine: engine.name,
        urls,
        crashes,
        db,
      })
      for (const _ of rounds(ROUNDS)) {
        scenario.startLoad()
        const [first, second] = scenario.random.chance(0.5) ? [0, 1] : [1, 0]
        await scenario.waitForWrites(scenario.random.between(20, 200))
        await scenario.inject(async () => {
          await fleet!.kill(first)
          await fleet!.startMissing()
        })
        // Sometimes both processes are down, so that no cache survives.
        await scenario.waitForWrites(scenario.random.between(1, 100))
        await scenario.inject(async () => {
          await fleet!.kill(second)
          if (scenario!.random.chance(0.5)) await fleet!.kill(first)
          await wait(scenario!.random.between(0, 50))
          await fleet!.startMissing()
        })
        await scenario.verify()
      }
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )
})
