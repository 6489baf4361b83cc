import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bench, compare, type Row } from '../compare.ts'
import { createBacklog } from '../jeton/events.ts'
import { Program } from '../program.ts'
import type { Engine } from '../stores.ts'
import { BINARY, jetonOn } from '../subjects.ts'
import { targetOf } from '../targets.ts'
import type { BareTask } from './bare-loop.ts'
import { type Received, Receiver } from './receiver.ts'

const DESTINATIONS = [10, 1_000]
const DELIVERIES = 20_000
const DELIVERIES_QUICK = 4_000
const BARE_LOOP = fileURLToPath(new URL('./bare-loop.ts', import.meta.url))
/** Written by the HTTP client itself. */
const BY_THE_CLIENT = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

interface Batch {
  readonly receiver: Receiver
  readonly urls: readonly string[]
  readonly count: number
}

/** Runs a program that sends the batch, until all of it has arrived. */
async function send({ receiver, count }: Batch, args: readonly string[], env = {}): Promise<Received> {
  const all = receiver.receive(count)
  const program = new Program(process.execPath, args, env)
  const ended = program.succeeds().then(() => all)
  const received = await Promise.race([all, ended])
  // From here on the program is stopped by a signal, which is no failure.
  ended.catch(() => undefined)
  await program.stop()
  return received
}

/** Runs `jeton worker` on a store with a backlog. */
async function runWorker({ stores }: Bench, engine: Engine, batch: Batch): Promise<Received> {
  const store = await stores.create(engine)
  const env = {
    ...store.env,
    JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
    JETON_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    JETON_LOG_LEVEL: 'warn',
  }
  try {
    await createBacklog({ env, urls: batch.urls, events: batch.count / batch.urls.length })
    return await send(batch, [BINARY, 'worker'], env)
  } finally {
    await store.drop()
  }
}

/** Posts a request that Jeton has sent, as often as Jeton does. */
function runBareLoop({ stores }: Bench, batch: Batch, { headers, body }: Received): Promise<Received> {
  const file = join(stores.folder, 'bare-loop.json')
  const own = Object.entries(headers).filter(([name]) => !BY_THE_CLIENT.has(name))
  const task = { urls: batch.urls, headers: Object.fromEntries(own) as BareTask['headers'], body }
  writeFileSync(file, JSON.stringify({ ...task, count: batch.count } satisfies BareTask))
  return send(batch, [BARE_LOOP, file])
}

async function measureDestinations(bench: Bench, engine: Engine, destinations: number): Promise<Row> {
  const receiver = new Receiver()
  try {
    const url = await receiver.listen()
    const urls = Array.from({ length: destinations }, (_, i) => `${url}/hooks/${i}`)
    const batch = { receiver, urls, count: bench.quick ? DELIVERIES_QUICK : DELIVERIES }
    const sample = await runWorker(bench, engine, { ...batch, count: destinations })
    const rateOf = async (received: Promise<Received>) => ({ perSecond: (await received).perSecond })
    return await compare(bench, {
      scenario: `deliver to ${destinations.toLocaleString('en-US')} endpoints`,
      ...{ subject: jetonOn(engine).label, target: targetOf('deliver', engine) },
      isCold: true,
      baseline: () => rateOf(runBareLoop(bench, batch, sample)),
      own: () => rateOf(runWorker(bench, engine, batch)),
    })
  } finally {
    receiver.close()
  }
}

/** Compares `jeton worker` with a bare undici loop that posts the same request as often. */
export async function measureDeliver(bench: Bench, engine: Engine): Promise<Row[]> {
  const rows: Row[] = []
  for (const destinations of DESTINATIONS) rows.push(await measureDestinations(bench, engine, destinations))
  return rows
}
