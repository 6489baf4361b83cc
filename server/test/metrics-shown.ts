import { rmSync } from 'node:fs'
import { vi } from 'vitest'
import { systemClock } from '../src/platform/clock.ts'
import { newFolder } from './command-line.ts'
import { freePort } from './free-port.ts'
import { ok, openShop } from './loyalty.ts'
import { send, startService } from './service.ts'

export interface MetricsShown {
  /** Types by name. */
  readonly types: ReadonlyMap<string, string>
  /** Of every line, by its name: `…_bucket`, `…_count` and `…_sum` for themselves. */
  readonly labels: ReadonlyMap<string, readonly string[]>
}

export function parseMetrics(text: string): MetricsShown {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!] as const)
  const lines = [...text.matchAll(/^(\w+)\{([^}]*)\} /gm)]
  const labels = lines.map(
    ([, name, inside]) => [name!, [...inside!.matchAll(/(\w+)="/g)].map(([, label]) => label!)] as const,
  )
  return { types: new Map(types), labels: new Map(labels) }
}

/** Metrics of a service that has issued, refused and introspected tokens, and failed to deliver. */
export async function readMetrics(): Promise<MetricsShown> {
  const folder = newFolder('metrics')
  const env = { JETON_DATA_DIR: folder, JETON_WEBHOOK_ALLOW: '127.0.0.0/8' }
  const service = await startService(env, { clock: systemClock })
  const shop = await openShop(service)
  await service.issue(shop.pair, 'nonsense')
  const { body } = await service.issue(shop.pair, 'vouchers')
  await service.introspect(shop.pair, body.access_token)
  await send(`${service.url}/v1/campaigns`)
  // No server listens on this port.
  await service.manage('POST', `/projects/${shop.projectId}/webhooks`, {
    target_url: `http://127.0.0.1:${await freePort()}/hook`,
    events: ['customer.reward_redemptions.completed'],
  })
  const [card, reward] = [await shop.member(100), await shop.material()]
  await ok(shop.redeem(card.code, reward.id))
  const text = await vi.waitFor(
    async () => {
      const shown = (await send(`${service.url}/metrics`)).text
      if (!shown.includes('outcome="')) throw new Error('nothing was sent yet')
      return shown
    },
    { timeout: 15_000, interval: 50 },
  )
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
  return parseMetrics(text)
}
