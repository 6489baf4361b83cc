import { EXIT, StartFailure } from '../platform/start-failure.ts'
import { StoreUnavailable } from '../platform/store-unavailable.ts'

export { EXIT }

/** A command failed. The message tells people what to do; scripts act on the exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly exitCode: number
  /** HTTP status, if the server answered. */
  readonly status: number | undefined

  constructor(message: string, exitCode: number, status?: number) {
    super(message)
    this.exitCode = exitCode
    this.status = status
  }

  /** True if a retry may succeed: the server is down, restarting or overloaded. */
  get isTemporary(): boolean {
    const { unreachable, tryAgain } = EXIT
    return this.exitCode === unreachable || this.exitCode === tryAgain || (this.status ?? 0) >= 500
  }
}

/** Ends with an exit code; the output is already printed. */
export class ExitWith extends CommandFailure {
  constructor(exitCode: number) {
    super('', exitCode)
  }
}

export const wrongUsage = (message: string): CommandFailure => new CommandFailure(message, EXIT.usage)

/** The text for people and the exit code. Only a bug prints a stack trace. */
export function explainFailure(error: unknown): { text: string; exitCode: number } {
  if (error instanceof CommandFailure || error instanceof StartFailure)
    return { text: error.message, exitCode: error.exitCode }
  if (error instanceof StoreUnavailable)
    return { text: `${error.message} Try again.`, exitCode: EXIT.tryAgain }
  return { text: (error as Error).stack ?? String(error), exitCode: EXIT.refused }
}
