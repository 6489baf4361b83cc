import type { BareRoute } from '../bare-route.ts'
import { type Bench, compare, type Row, runSlice } from '../compare.ts'
import type { JetonClient } from '../jeton/projects.ts'
import { createShop } from '../jeton/shop.ts'
import { redeemTraffic } from '../requests.ts'
import type { Engine, Store } from '../stores.ts'
import { jetonOn, withSubject } from '../subjects.ts'
import { targetOf } from '../targets.ts'

/** Fewer than cards, so that two concurrent requests hardly ever use the same card. */
const CONNECTIONS = 16

/** Redeems one reward with 200 cards. All of them update the stock of this reward, which is one row. */
export function measureRedeem(bench: Bench, bare: BareRoute, engine: Engine): Promise<Row> {
  const description = jetonOn(engine)
  const fill = (store: Store, [client]: readonly JetonClient[]) => createShop(store, client!.projectId)
  return withSubject(bench.stores, description, { clients: 1, fill }, async (subject, shop) => {
    const loads = [{ traffic: await redeemTraffic(subject, shop), connections: CONNECTIONS }]
    return compare(bench, {
      ...{ scenario: 'redeem', subject: description.label, target: targetOf('redeem', engine) },
      isBare: true,
      baseline: () => bare.slice(bench, 'issue', CONNECTIONS),
      own: async () => (await runSlice(bench, subject, loads, bench.seconds))[0]!,
    })
  })
}
