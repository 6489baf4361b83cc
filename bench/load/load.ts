import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface LoadTask {
  readonly url: string
  /** Written by `writeRequests`; sent over and over, in turn. */
  readonly requestsFile: string
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  /** Answers of any status. */
  readonly answers: number
  /** Those with a status of 400 or more. */
  readonly refused: number
  /** Requests that got no answer: connection lost, or none in time. */
  readonly failed: number
  readonly bytes: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface LoadGenerator {
  readonly name: string
  run(task: LoadTask): Promise<LoadResult>
}

/** Between opening the connections and the first request. Whole seconds: `wrk` takes no others. */
export const SETTLE_SECONDS = 1

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

/** In a process of its own; its last line is the result. */
function runProgram(program: string, args: readonly string[]): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (chunk) => (said += chunk))
    child.on('error', reject)
    child.on('close', () => {
      const last = said.trim().split('\n').at(-1)!
      if (last.startsWith('{')) resolve(JSON.parse(last))
      else reject(new Error(`The load generator ${program} ended without a result: ${said}`))
    })
  })
}

const wrk: LoadGenerator = {
  name: 'wrk',
  async run({ url, requestsFile, connections, seconds }) {
    const load = ['-t1', `-c${connections}`, `-d${seconds + SETTLE_SECONDS}s`, '-s', here('./wrk.lua')]
    const own = [requestsFile, String(connections), String(SETTLE_SECONDS * 1000)]
    const result = await runProgram('wrk', [...load, url, '--', ...own])
    return { ...result, seconds: result.seconds - SETTLE_SECONDS }
  },
}

const node: LoadGenerator = {
  name: 'node',
  run: (task) => runProgram(process.execPath, [here('./node-load.ts'), JSON.stringify(task)]),
}

/** `wrk` costs less of the machine than anything in JavaScript; where it is missing, a generator of our own. */
export const findGenerator = (): LoadGenerator => (spawnSync('wrk', ['-v']).error ? node : wrk)
