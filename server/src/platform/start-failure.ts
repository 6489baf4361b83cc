/** Exit codes of sysexits.h, for scripts and process supervisors. */
export const EXIT = {
  refused: 1,
  usage: 2,
  notFound: 3,
  credentials: 4,
  differs: 10,
  unreachable: 69,
  tryAgain: 75,
  configuration: 78,
} as const

/** The service cannot start. Has a message of one line with a remedy, and the exit code. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.configuration) {
    super(message)
    this.exitCode = exitCode
  }
}
