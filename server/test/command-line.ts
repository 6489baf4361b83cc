import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { run } from '../src/cli/run.ts'

/** What a command left behind. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string>>
  /** Whether a person reads the output. */
  readonly isTTY?: boolean
  /** What a person answers, in turn; without any, nobody is there to be asked. */
  readonly answers?: readonly string[]
  /** Standard input. */
  readonly input?: string
  readonly now?: number
}

/** Runs a command in this process, as if it had been typed. */
export async function jeton(argv: readonly string[], surroundings: Surroundings): Promise<Ran> {
  const { env, isTTY = false, input = '', now } = surroundings
  const answers = surroundings.answers && [...surroundings.answers]
  const out: string[] = []
  const err: string[] = []
  const code = await run({
    argv,
    env,
    isTTY,
    stdout: { write: (chunk) => out.push(chunk) },
    stderr: { write: (chunk) => err.push(chunk) },
    ask:
      answers &&
      (async (question) => {
        err.push(question)
        return answers.shift() ?? ''
      }),
    readInput: async () => input,
    now: () => now ?? Date.now(),
  })
  return { code, out: out.join(''), err: err.join('') }
}

const BINARY = fileURLToPath(new URL('../bin/jeton.js', import.meta.url))

/** The binary in a process of its own, with no setting but those given. */
export function spawnJeton(argv: readonly string[], env: Readonly<Record<string, string>>) {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('JETON_')))
  return spawn(process.execPath, [BINARY, ...argv], {
    env: { ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export async function jetonProcess(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const child = spawnJeton(argv, env)
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, out, err }
}

export const newFolder = (name: string): string => mkdtempSync(join(tmpdir(), `jeton-${name}-`))
