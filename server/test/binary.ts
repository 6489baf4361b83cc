import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FAST_PATH } from './fast-path-setting.ts'

export const BINARY = fileURLToPath(new URL('../bin/jeton.js', import.meta.url))

/** The program as people start it, in a process of its own. */
export interface Running {
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves once standard output matches. Rejects with the whole output if the process ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** Creates a folder for home, configuration and working directory, so that a test neither reads nor changes the user's own. */
export function makeHome(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-home-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) }
}

/** The sample's key pair, from the output of a first start without a terminal, which names the file of the secret. */
export function sampleKeyIn(printed: string): { appId: string; appToken: string } {
  const [, appId, file] = /API key +(\S+)\n +its secret +(\S+)/.exec(printed)!
  return { appId: appId!, appToken: readFileSync(file!, 'utf8').trim() }
}

interface Options {
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

const URL_PRINTED = /http:\/\/[\w.[\]:]+:\d+/

export function runBinary({ home, env = {}, args = ['serve'] }: Options): Running {
  const child = spawn(process.execPath, [BINARY, ...args], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      JETON_PORT: '0',
      ...FAST_PATH,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  const heard = new Set<() => void>()
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]!.setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
      for (const look of heard) look()
    })
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    // Not `exit`: the output may not have been read completely by then.
    child.once('close', (code, signal) => resolve(code ?? signal!)),
  )
  return {
    child,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    ended,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(said.stdout)
          if (!found) return
          heard.delete(look)
          resolve(found)
        }
        heard.add(look)
        look()
        void ended.then((code) => reject(new Error(`ended with ${code}: ${said.stdout}${said.stderr}`)))
      }),
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** Starts the program and waits until it serves. */
export async function serveBinary(options: Options): Promise<Running & { url: string }> {
  const running = runBinary(options)
  const [url] = await running.printed(URL_PRINTED)
  return { ...running, url }
}
