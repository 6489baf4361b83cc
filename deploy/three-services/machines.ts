import { type Running, runBinary } from '../../server/test/binary.ts'

/** A process that represents a machine. */
export interface Machine {
  readonly name: string
  start(): Promise<void>
  /** Like a power cut, without shutdown. */
  kill(): Promise<void>
  /** Like a supervisor: requests in flight are finished. */
  stop(): Promise<void>
}

interface Program {
  readonly name: string
  readonly args: readonly string[]
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** Output that shows that it is ready. */
  readonly ready: RegExp
}

function machineOf({ name, args, home, env, ready }: Program): Machine {
  let running: Running | undefined
  return {
    name,
    async start() {
      running = runBinary({ home, env, args })
      await running.printed(ready)
    },
    async kill() {
      await running?.stop('SIGKILL')
    },
    async stop() {
      const code = await running?.stop()
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${running?.stdout()}${running?.stderr()}`)
    },
  }
}

interface Layout {
  readonly home: string
  /** Common to all machines. */
  readonly env: Readonly<Record<string, string>>
  readonly ports: readonly number[]
  readonly workers: number
}

/** Services that answer requests and leave deliveries to the workers. */
export function layOut({ home, env, ports, workers }: Layout): Machine[] {
  const services = ports.map((port, i) =>
    machineOf({
      name: `service ${i + 1}`,
      args: ['serve', '--no-worker'],
      home,
      env: { ...env, JETON_PORT: String(port) },
      ready: /"msg":"ready"/,
    }),
  )
  const senders = Array.from({ length: workers }, (_, i) =>
    machineOf({ name: `worker ${i + 1}`, args: ['worker'], home, env, ready: /"msg":"sending events"/ }),
  )
  return [...services, ...senders]
}
