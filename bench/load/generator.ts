import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface LoadTask {
  readonly url: string
  /** Requests, separated by NUL, that are sent in turn. */
  readonly requestsFile: string
  readonly connections: number
  /** Duration in whole seconds, including the time to open connections. */
  readonly seconds: number
}

export interface LoadResult {
  readonly answers: number
  /** Responses with status 400 or higher. */
  readonly refused: number
  /** Requests without a response: connection lost or timeout. */
  readonly failed: number
  readonly bytes: number
  /** Duration without the time to open connections. */
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/**
 * Time between opening connections and the first request. A busy Node accepts one connection per turn of its event loop,
 * and the wait for that would count as latency.
 */
export const SETTLE_MS = 300

const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url))

/** Runs `wrk`, which uses less processor time than any generator in JavaScript. Its last line is the result. */
export function runLoad({ url, requestsFile, connections, seconds }: LoadTask): Promise<LoadResult> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT]
  const args = [...options, url, '--', requestsFile, String(connections), String(SETTLE_MS)]
  return new Promise((resolve, reject) => {
    const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.once('error', (error) => reject(new Error(`install wrk: ${error.message}`)))
    child.once('close', () => {
      const last = output.trim().split('\n').at(-1)!
      if (!last.startsWith('{')) return reject(new Error(`wrk ended without a result: ${output}`))
      const result = JSON.parse(last) as LoadResult
      resolve({ ...result, seconds: result.seconds - SETTLE_MS / 1000 })
    })
  })
}
