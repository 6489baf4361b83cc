import { type ChildProcess, fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ProcessUse, Ready, SubjectTask } from './subjects/protocol.ts'

const READY_WITHIN_MS = 60_000
const END_WITHIN_MS = 20_000

/** A subject in a process of its own. */
export interface Subject extends Ready {
  use(): Promise<ProcessUse>
  stop(): Promise<void>
}

/** Our own settings would be foreign ones to Jeton, and a benchmark is no development. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('JETON_'))
  return { ...Object.fromEntries(own), NODE_ENV: 'production' }
}

export async function startSubject(file: string, task: SubjectTask): Promise<Subject> {
  const path = fileURLToPath(new URL(`./subjects/${file}`, import.meta.url))
  const child = fork(path, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: cleanEnvironment() })
  const ready = readyLine(child, file)
  child.send(task)
  return { ...(await ready), use: () => useOf(child), stop: () => stop(child) }
}

/** The line that says it serves. What it prints goes on being read after that: a full pipe would stop it. */
function readyLine(child: ChildProcess, file: string): Promise<Ready> {
  return new Promise((resolve, reject) => {
    let complained = ''
    const fail = (what: string) => reject(new Error(`${file} ${what}: ${complained}`))
    const late = setTimeout(() => fail('did not start'), READY_WITHIN_MS)
    child.once('exit', () => fail('ended'))
    child.stderr!.on('data', (chunk) => {
      complained = (complained + chunk).slice(-2_000)
    })
    const showError = onlyFirst((line) => process.stderr.write(`${file} logged: ${line.slice(0, 2_000)}\n`))
    createInterface(child.stdout!).on('line', (line) => {
      if (line.includes('"level":"error"')) showError(line)
      if (!line.startsWith('{"ready"')) return
      clearTimeout(late)
      resolve(JSON.parse(line))
    })
  })
}

/** One error tells what is wrong; at full load there are thousands of the same. */
function onlyFirst(show: (line: string) => void): (line: string) => void {
  let shown = false
  return (line) => {
    if (!shown) show(line)
    shown = true
  }
}

function useOf(child: ChildProcess): Promise<ProcessUse> {
  return new Promise((resolve) => {
    child.once('message', (use) => resolve(use as ProcessUse))
    child.send('use')
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const late = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS)
  child.kill('SIGTERM')
  await gone
  clearTimeout(late)
}
