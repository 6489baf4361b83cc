import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { CommandFailure, EXIT } from '../exit.ts'
import type { Noun } from './change.ts'

/** The resource that a secret belongs to. One file may hold secrets of several servers. */
export interface Owner {
  readonly server: string
  readonly project: string
  readonly noun: Noun
  readonly name: string
}

/** A line is an intent before the request, and after it the secret, or that the server refused. */
interface Line extends Owner {
  readonly at: string
  readonly outcome: 'pending' | 'created' | 'refused'
}

const isLine = (value: unknown): value is Line =>
  typeof value === 'object' && value !== null && 'outcome' in value && 'server' in value

const identity = ({ server, project, noun, name }: Owner): string =>
  JSON.stringify([server, project, noun, name])

/**
 * File of new secrets, one JSON object per line. A line is added before each request that makes a secret: if the program
 * ends before the secret is written, the next run knows which one is lost.
 */
export class SecretsFile {
  readonly path: string
  readonly #last = new Map<string, Line>()
  readonly #written = new Set<string>()
  #descriptor: number | undefined

  /** Reads the file, if there is one. It refuses a file that others can read, or that is a link. */
  constructor(path: string) {
    this.path = path
    const file = lstatSync(path, { throwIfNoEntry: false })
    if (!file) return
    refuseUnsafe(path, file)
    for (const text of readFileSync(path, 'utf8').split('\n')) this.#remember(text)
  }

  #remember(text: string): void {
    const line = parsed(text)
    if (isLine(line)) {
      this.#last.set(identity(line), line)
      if (line.outcome === 'created') this.#written.add(identity(line))
    } else if (line !== undefined) throw unsafe(this.path, 'is not a file of secrets that apply wrote')
  }

  /** Whether the file has the secret, which may have been replaced since. */
  has = (owner: Owner): boolean => this.#written.has(identity(owner))

  /** Whether the result of the last request for it is unknown. */
  isLost = (owner: Owner): boolean => this.#last.get(identity(owner))?.outcome === 'pending'

  /** Creates the file, before the first request that makes a secret. */
  open(): void {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants
    try {
      this.#descriptor = openSync(this.path, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, 0o600)
      const file = fstatSync(this.#descriptor)
      refuseUnsafe(this.path, file)
      // A line that was cut by a kill is ended, so that the next one is complete.
      if (file.size > 0 && readFileSync(this.path, 'utf8').at(-1) !== '\n') writeSync(this.#descriptor, '\n')
      syncFolder(dirname(this.path))
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      throw unsafe(this.path, `cannot be written (${(error as NodeJS.ErrnoException).code})`)
    }
  }

  /** Each line is one write, so that several applies can share the file, and is on disk before the next request. */
  add(
    owner: Owner,
    more: { readonly at: string; readonly outcome: Line['outcome']; readonly [field: string]: string },
  ): void {
    const line = `${JSON.stringify({ ...owner, ...more })}\n`
    writeSync(this.#descriptor!, line)
    fsyncSync(this.#descriptor!)
    this.#remember(line)
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}

/** Undefined for an empty line, and for one that was cut by a kill. */
function parsed(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text.startsWith('{"') ? undefined : text
  }
}

const unsafe = (path: string, why: string): CommandFailure =>
  new CommandFailure(
    `${path} ${why}. Nothing was changed. Choose another file: --secrets`,
    EXIT.configuration,
  )

function refuseUnsafe(path: string, file: Stats): void {
  if (file.isSymbolicLink() || file.nlink > 1) throw unsafe(path, 'is a link')
  if (!file.isFile()) throw unsafe(path, 'is not a file')
  if ((file.mode & 0o077) !== 0) throw unsafe(path, 'can be read by others: its mode must be 0600')
  if (process.getuid && file.uid !== process.getuid()) throw unsafe(path, 'belongs to another user')
}

/** Makes the name of a new file durable. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
