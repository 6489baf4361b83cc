import { describe, expect, test } from 'vitest'
import { runTrial } from '../../../deploy/three-services/run-trial.ts'
import { isInstalled } from '../proxy.ts'
import { report as reportRow } from './report.ts'

const installed = isInstalled('nginx')
const missing = ' (skipped: nginx is not installed, apt-get install -y nginx-light)'

// `npm run trial:machines` does the same for longer, and shows the responses that clients got.
describe.skipIf(!installed)(`several machines${installed ? '' : missing}`, () => {
  test('three services and two workers behind nginx, killed and upgraded one by one under load, lose no acknowledged write', async () => {
    const report = await runTrial({ steadyMs: 300, downMs: 300, pauseMs: 60, say: () => undefined })
    const { tokensAcknowledged: tokens, redemptionsAcknowledged: redemptions } = report
    reportRow('fault', {
      ...{ fault: 'machines behind nginx killed and upgraded', engine: 'PostgreSQL', times: 10, kills: 5 },
      ...{ tokens, redemptions, events: redemptions, backAfterMs: null },
      lost: Object.values(report.losses).flat().length,
    })
    expect(report.losses).toEqual({ tokens: [], redemptions: [], events: [], wrong: [] })
    expect(report.connections.most).toBeLessThanOrEqual(report.connections.bound)
    expect(report.phases.map(({ name }) => name.split(' ').at(-1))).toEqual([
      'running',
      ...new Array(5).fill('killed'),
      ...new Array(5).fill('upgraded'),
      'again',
    ])
    // Every phase had requests. Otherwise the test would prove nothing.
    for (const { name, answered } of report.phases) expect(answered, name).toBeGreaterThan(0)
    expect(redemptions).toBeGreaterThan(20)
    expect(tokens).toBeGreaterThan(50)
  }, 600_000)
})
