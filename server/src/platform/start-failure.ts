/** Codes of sysexits.h that scripts and supervisors act on. */
export const EXIT = {
  refused: 1,
  usage: 2,
  notFound: 3,
  credentials: 4,
  unreachable: 69,
  tryAgain: 75,
  configuration: 78,
} as const

/** The service cannot start. One line that says what to do, and the exit code. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  readonly exitCode: number

  constructor(message: string, exitCode: number = EXIT.configuration) {
    super(message)
    this.exitCode = exitCode
  }
}
