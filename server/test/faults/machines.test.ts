import { describe, expect, test } from 'vitest'
import { runTrial } from '../../../deploy/three-services/run-trial.ts'
import { isInstalled } from '../proxy.ts'
import { report as reportRow } from './report.ts'

const installed = isInstalled('nginx')
const missing = ': skipped, since nginx is not installed (apt-get install -y nginx-light)'

// `npm run trial:machines` does the same for longer, and shows what clients met.
describe.skipIf(!installed)(`three services and two workers behind nginx${installed ? '' : missing}`, () => {
  test('lose nothing that was acknowledged, killed and upgraded one by one under load', async () => {
    const report = await runTrial({ steadyMs: 500, downMs: 300, say: () => undefined })
    const { tokensAcknowledged: tokens, redemptionsAcknowledged: redemptions } = report
    reportRow('fault', {
      ...{ fault: 'machines behind nginx killed and upgraded', engine: 'PostgreSQL', times: 10, kills: 5 },
      ...{ tokens, redemptions, events: redemptions, backAfterMs: null },
      lost: Object.values(report.losses).flat().length,
    })
    expect(report.losses).toEqual({ tokens: [], redemptions: [], events: [], wrong: [] })
    expect(report.connections.most).toBeLessThanOrEqual(report.connections.bound)
    expect(report.phases.map(({ name }) => name.split(' ').at(-1))).toEqual([
      'there',
      ...new Array(5).fill('killed'),
      ...new Array(5).fill('upgraded'),
      'again',
    ])
    // Else nothing was under way, and this proved nothing.
    for (const { name, answered } of report.phases) expect(answered, name).toBeGreaterThan(0)
    expect(redemptions).toBeGreaterThan(20)
    expect(tokens).toBeGreaterThan(50)
  }, 600_000)
})
