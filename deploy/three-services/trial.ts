/** Runs three services and two workers on one PostgreSQL behind nginx, kills and upgrades each under load, and reports losses. */
import { isInstalled } from '../../server/test/proxy.ts'
import type { Phase } from './clients.ts'
import { runTrial, type TrialReport } from './run-trial.ts'

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function phaseLine({ name, answered, failed, slowestMs }: Phase): string {
  const reasons = Object.entries(failed).map(([reason, count]) => `${count} × ${reason}`)
  const cells = [name.padEnd(20), String(answered).padStart(8), `${Math.round(slowestMs)} ms`.padStart(10)]
  return `${cells.join('  ')}  ${reasons.join(', ') || '-'}`
}

function report({ phases, losses, connections, ...found }: TrialReport): boolean {
  print(`\n${'phase'.padEnd(20)}  answered     slowest  not served`)
  for (const phase of phases) print(phaseLine(phase))
  print(`\nacknowledged  ${found.tokensAcknowledged} tokens, ${found.redemptionsAcknowledged} redemptions`)
  print(`sent again    ${found.sentAgain} events, with the same webhook-id`)
  print(`connections   ${connections.most} at most; the settings allow ${connections.bound}`)
  const lost = Object.entries(losses).flatMap(([kind, all]) => all.map((one: string) => `${kind}: ${one}`))
  print(
    lost.length === 0
      ? 'lost          nothing that was acknowledged'
      : `LOST\n${lost.slice(0, 20).join('\n')}`,
  )
  return lost.length === 0
}

if (!isInstalled('nginx')) {
  process.stderr.write('The trial requires nginx: apt install nginx-light\n')
  process.exit(69)
}
const complete = report(await runTrial({ steadyMs: 3_000, downMs: 2_000, pauseMs: 15, say: print }))
process.exit(complete ? 0 : 1)
