import { EXIT, StartFailure } from '../platform/start-failure.ts'
import { StoreUnavailable } from '../platform/store-unavailable.ts'

export { EXIT }

/** A command cannot do what was asked. The message says what to type instead; scripts act on the code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: number
  /** Of the server's answer, where there was one. */
  readonly status: number | undefined

  constructor(message: string, exitCode: number, status?: number) {
    super(message)
    this.exitCode = exitCode
    this.status = status
  }

  /** Whether it may pass by itself: the server is away, restarts, or has too much to do. */
  get mayPass(): boolean {
    const { unreachable, tryAgain } = EXIT
    return this.exitCode === unreachable || this.exitCode === tryAgain || (this.status ?? 0) >= 500
  }
}

/** Everything has been said; only the code is left. */
export class ExitWith extends CommandFailure {
  constructor(exitCode: number) {
    super('', exitCode)
  }
}

export const wrongUsage = (message: string): CommandFailure => new CommandFailure(message, EXIT.usage)

/** Whatever went wrong, for people, and the code to end with. A stack trace appears only where it is a bug of ours. */
export function explainFailure(error: unknown): { text: string; exitCode: number } {
  if (error instanceof CommandFailure || error instanceof StartFailure)
    return { text: error.message, exitCode: error.exitCode }
  if (error instanceof StoreUnavailable)
    return { text: `${error.message} Try again.`, exitCode: EXIT.tryAgain }
  return { text: (error as Error).stack ?? String(error), exitCode: EXIT.refused }
}
