import { availableParallelism } from 'node:os'
import type { Phase } from '../three-services/clients.ts'
import { debianVersion, packageVersions } from './packages.ts'
import type { TrialReport } from './run-trial.ts'

const MAX_LOSSES_SHOWN = 20

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

function row({ name, longestGapMs, answered, failed }: Phase): string {
  const { issue, introspect, redeem } = longestGapMs
  const reasons = Object.entries(failed).map(([reason, count]) => `${count} × ${reason}`)
  const cells = [
    name,
    seconds(issue),
    seconds(introspect),
    seconds(redeem),
    answered,
    reasons.join(', ') || 'none',
  ]
  return `| ${cells.join(' | ')} |`
}

/** The table of the guide. */
export function report(
  { phases, found, acknowledged, losses }: TrialReport,
  build: { current: string; from: string | undefined },
): string {
  const { tokens, redemptions, kills } = acknowledged
  return [
    `${new Date().toISOString().slice(0, 10)}, Jeton ${build.current}${build.from ? ` (upgraded from ${build.from})` : ''}, Node.js ${process.versions.node},`,
    `${packageVersions().join(', ')}; ${debianVersion()}, ${availableParallelism()} cores for everything.`,
    '',
    '| fault | issue | introspect | redeem | answered | not served |',
    '|---|---|---|---|---|---|',
    ...phases.map(row),
    '',
    `Acknowledged: ${tokens} tokens, ${redemptions} redemptions, ${kills} revocations and blocks.`,
    `Events sent again with the same \`webhook-id\`: ${found.sentAgain}.`,
    losses.length === 0
      ? 'Lost: nothing that was acknowledged. No project had more than its 1,000 tokens, and no dead token was active.'
      : `LOST OR WRONG (${losses.length}):\n${losses.slice(0, MAX_LOSSES_SHOWN).join('\n')}`,
  ].join('\n')
}
