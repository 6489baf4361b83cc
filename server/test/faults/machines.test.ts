import { describe, expect, test } from 'vitest'
import { runTrial } from '../../../deploy/three-services/run-trial.ts'
import { isInstalled } from '../proxy.ts'

const installed = isInstalled('nginx')
const missing = ': skipped, since nginx is not installed (apt-get install -y nginx-light)'

// `npm run trial:machines` does the same for longer, and shows what clients met.
describe.skipIf(!installed)(`three services and two workers behind nginx${installed ? '' : missing}`, () => {
  test('lose nothing that was acknowledged, killed and upgraded one by one under load', async () => {
    const report = await runTrial({ steadyMs: 500, downMs: 300, say: () => undefined })
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
    expect(report.redemptionsAcknowledged).toBeGreaterThan(20)
    expect(report.tokensAcknowledged).toBeGreaterThan(50)
  }, 300_000)
})
