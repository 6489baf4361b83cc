import type { Answer } from './call-api.ts'
import { EXIT, ExitWith } from './exit.ts'
import type { Options } from './fields.ts'
import { type Io, remark } from './io.ts'
import type { Extra } from './resource-command.ts'

/** The longest wait that the API allows. */
const MAX_WAIT_MS = '5000'

interface Spread {
  readonly propagation: { readonly processes: number; readonly confirmed: number; readonly after_ms: number }
}

/** Says how many processes apply the change. Exit code 75 if it waited and one does not, for scripts. */
function reportSpread(io: Io, { json }: Answer, { wait, waitMs }: Options): void {
  const { processes, confirmed, after_ms: afterMs } = (json as Spread).propagation
  const count = `${confirmed} of ${processes} process${processes === 1 ? '' : 'es'}`
  const hasWaited = wait === true || Number(waitMs ?? 0) > 0
  const isComplete = confirmed === processes
  if (!hasWaited) {
    if (!isComplete)
      remark(io, `Applied by ${count} so far; the others follow within seconds. To wait: --wait`)
    return
  }
  remark(io, `Applied by ${count} after ${afterMs} ms.`)
  if (isComplete) return
  remark(
    io,
    'A process that cannot reach the store stops accepting tokens within 30 s. See: jeton process list',
  )
  throw new ExitWith(EXIT.tryAgain)
}

/** Additions to commands whose change other processes must learn of. */
export const spreading: Extra = {
  addOptions: (command) =>
    command.option('--wait', 'wait up to 5 s until every process applies it; exit code 75 if one does not'),
  defaults: ({ wait }): Record<string, string> => (wait === true ? { wait_ms: MAX_WAIT_MS } : {}),
  conclude: reportSpread,
}
