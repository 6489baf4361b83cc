import type { Answer } from './call-api.ts'
import { EXIT, ExitWith } from './exit.ts'
import type { Options } from './fields.ts'
import { type Io, remark } from './io.ts'

interface TestedDelivery {
  readonly id: string
  readonly attempt: { readonly error: string | null } | null
}

/** An attempt may take 10 s, so this waits for it whatever it comes to. */
export const TEST_WAIT_MS = '15000'

/** A test that did not succeed is exit code 1, so that a script can rely on it. `--wait-ms 0` asks for no result. */
export function judgeTest(io: Io, { json }: Answer, { waitMs }: Options): void {
  const { id, attempt } = json as TestedDelivery
  if (attempt?.error === null || (!attempt && waitMs === 0)) return
  remark(
    io,
    attempt
      ? `Failed: ${attempt.error}. To send it again: jeton delivery retry ${id}`
      : `No attempt was made in time. Is a worker running? See: jeton delivery show ${id}`,
  )
  throw new ExitWith(EXIT.refused)
}

interface Recovered {
  readonly since: string
  readonly destination: string | null
  readonly dry_run: boolean
  readonly failing_left_out: number
}

/** Failing deliveries are easily taken for exhausted ones, and then missed. */
export function tellLeftOut(io: Io, { json }: Answer): void {
  const { since, destination, dry_run, failing_left_out: count } = json as Recovered
  if (count === 0) return
  const flags = [
    `--since ${since}`,
    destination && `--destination ${destination}`,
    '--include failing',
    dry_run && '--dry-run',
  ]
  const they =
    count === 1
      ? '1 failing delivery is left out: it is'
      : `${count} failing deliveries are left out: they are`
  remark(
    io,
    `${they} retried on schedule. To send now: jeton delivery recover ${flags.filter(Boolean).join(' ')}`,
  )
}
