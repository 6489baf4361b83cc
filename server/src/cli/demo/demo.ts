import type { Command } from 'commander'
import { openSession } from '../call-api.ts'
import { addConnectionOptions, type ConnectionOptions, nameServer } from '../connection.ts'
import { exampleText } from '../format.ts'
import { type Io, type Live, printLine, remark } from '../io.ts'
import { type Receiver, startReceiver } from '../live/local-receiver.ts'
import { DEMO, type DemoProject, openDemo, removeDemo } from './demo-project.ts'
import { DemoTraffic } from './demo-traffic.ts'

/** The first minute fills the charts; afterwards a page changes slowly enough to be read. */
const DENSE_MS = 60_000
const DENSE_STEP_MS = 80
const CALM_STEP_MS = 1_000
/** Without a terminal, a line is printed this often. */
const LINE_EVERY_MS = 10_000
/** The receiver on this machine is down for one of so many steps, so that some deliveries arrive by a retry. */
const DOWN_STEPS = { every: 200, last: 20 }

interface DemoOptions extends ConnectionOptions {
  readonly remove?: boolean
}

async function demo(io: Io, options: DemoOptions): Promise<void> {
  const session = openSession(io, options)
  nameServer(io, session.connection)
  if (options.remove) {
    const isRemoved = await removeDemo(session)
    return remark(io, isRemoved ? `Removed project "${DEMO}".` : `There is no project "${DEMO}".`)
  }
  const live = io.goLive()
  const receiver = await startReceiver()
  try {
    const project = await openDemo(session, receiver.url)
    printLine(io, introduction(project))
    await run(io, { live, receiver, traffic: new DemoTraffic(session, project) })
    printLine(io, `Stopped. The project stays. Go on: jeton demo   Delete it: jeton demo --remove`)
  } finally {
    await receiver.close()
  }
}

const introduction = ({ id, keys, cards, isReceived }: DemoProject): string =>
  [
    `Project "${DEMO}" (${id}): ${Object.keys(keys).length} API keys, ${cards.length} customers, ${isReceived ? 4 : 3} destinations.`,
    'Real requests, some of them refused, until Ctrl-C. The first minute is dense.',
    '',
    `  See it in the browser   jeton console`,
    `  In the terminal         jeton status`,
    `  Why requests fail       jeton refusal list --project ${DEMO}`,
    `  Failing deliveries      jeton delivery list --failing --project ${DEMO}`,
    ...(isReceived
      ? []
      : [
          '',
          'This server sends only to public addresses, so no delivery succeeds. To receive them on this machine:',
          'JETON_WEBHOOK_ALLOW=127.0.0.0/8 npm start',
        ]),
    '',
  ].join('\n')

interface Running {
  readonly live: Live
  readonly receiver: Receiver
  readonly traffic: DemoTraffic
}

async function run(io: Io, { live, receiver, traffic }: Running): Promise<void> {
  const started = io.now()
  let printed = started
  for (let number = 0; !live.stopped.aborted; number++) {
    receiver.isDown = number % DOWN_STEPS.every >= DOWN_STEPS.every - DOWN_STEPS.last
    await traffic.step(number)
    const now = io.now()
    if (io.isTTY) io.stdout.write(`\r\x1b[K${statusLine(traffic, now - started)}`)
    else if (now - printed >= LINE_EVERY_MS) {
      printLine(io, statusLine(traffic, now - started))
      printed = now
    }
    await live.wait(now - started < DENSE_MS ? DENSE_STEP_MS : CALM_STEP_MS)
  }
  printLine(io, io.isTTY ? '' : statusLine(traffic, io.now() - started))
}

function statusLine({ counts }: DemoTraffic, ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return [time, ...Object.entries(counts).map(([name, count]) => `${count} ${name}`)].join('  ')
}

export function addDemo(program: Command, io: Io): void {
  const command = program
    .command('demo')
    .summary('fill a project with real traffic, to look around')
    .description(
      `Creates project "${DEMO}" and sends it the requests of API clients until Ctrl-C: tokens, checks, redemptions, and failures of each kind. It can be started again.`,
    )
    .option('--remove', 'delete the project')
    .addHelpText('after', exampleText(['jeton demo', 'jeton demo --remove']))
  addConnectionOptions(command)
  command.action((options) => demo(io, options))
}
