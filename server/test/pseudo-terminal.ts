import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { ownEnvironment } from './command-line.ts'

const BINARY = fileURLToPath(new URL('../bin/jeton.js', import.meta.url))
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

export interface InTerminal {
  /** The exit code, and everything that the terminal showed, with its control characters. */
  readonly ended: Promise<{ code: number; shown: string }>
  /** Resolves once the terminal has shown this. */
  showed(pattern: RegExp): Promise<void>
  type(text: string): void
}

/** Runs the binary in a pseudo terminal, made by `script` of util-linux. */
export function inTerminal(argv: readonly string[], env: Readonly<Record<string, string>>): InTerminal {
  const command = [process.execPath, BINARY, ...argv].map(quoted).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    env: { ...ownEnvironment(), TERM: 'xterm', NO_COLOR: '1', ...env },
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk
  })
  const exit = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)))
  const ended = Promise.all([exit, text(child.stderr)]).then(([code]) => ({ code, shown }))
  return {
    ended,
    showed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => void (pattern.test(shown) && resolve())
        child.stdout.on('data', look)
        look()
        void ended.then(({ code }) => reject(new Error(`ended with ${code}: ${shown}`)))
      }),
    type: (typed) => void child.stdin.write(typed),
  }
}
