import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ProcessUse, Ready, SubjectTask } from './protocol.ts'

export const receiveTask = (): Promise<SubjectTask> =>
  new Promise((resolve) => process.once('message', (task) => resolve(task as SubjectTask)))

/** Tells the runner that requests may come. From here on it also answers what the process has used. */
export function announce(ready: Omit<Ready, 'ready'>, use: () => ProcessUse = processUse): void {
  process.on('message', () => process.send!(use()))
  // The runner is gone, however it ended.
  process.on('disconnect', () => process.exit(1))
  process.stdout.write(`${JSON.stringify({ ready: true, ...ready } satisfies Ready)}\n`)
}

const sum = ({ user, system }: NodeJS.CpuUsage): number => user + system

const processUse = (): ProcessUse => ({
  rssBytes: process.memoryUsage.rss(),
  peakBytes: process.resourceUsage().maxRSS * 1024,
  cpuMicros: sum(process.cpuUsage()),
  mainMicros: sum(process.threadCpuUsage()),
})

export function endOnSignal(stop: () => unknown): void {
  process.once('SIGTERM', async () => {
    await stop()
    process.exit(0)
  })
}

export function listen(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    ),
  )
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
