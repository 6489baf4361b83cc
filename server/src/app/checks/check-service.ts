import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { checkDataFolder, checkEncryption } from './check-files.ts'
import { checkProduction, checkProxies, type Judge } from './check-production.ts'
import { checkProcesses, examineStore, type StoreExamined, unseenStore } from './check-store.ts'
import { type Finding, failed, ok } from './finding.ts'

interface Deps {
  readonly config: Config
  readonly db: Database
  readonly clock: Clock
  /** Why the database accepts no writes; undefined if it does. */
  readonly whyNotWritable: () => Promise<string | undefined>
}

/** These are the settings of the service itself, so success may rest on all of them. */
const trust: Judge = (finding) => finding

/** Runs the checks of `jeton doctor` inside the running service, with its settings, its store and its clock. */
export async function checkService(deps: Deps, production: boolean): Promise<Finding[]> {
  const { config } = deps
  const store = await examineOpenStore(deps)
  return [
    ok('settings', 'valid'),
    ...checkDataFolder(config, production),
    checkEncryption(config, { production, needed: store.neededKeys }),
    ...store.findings,
    checkWrites(deps.db, await deps.whyNotWritable()),
    checkProcesses(config),
    ...checkProxies(config, production),
    ...(production ? checkProduction(config, store, trust) : []),
  ]
}

function checkWrites({ engine }: Database, reason: string | undefined): Finding {
  if (reason === undefined) return ok('writes', 'accepted')
  const writable =
    engine === 'postgres'
      ? 'connect to the primary, and set default_transaction_read_only = off there'
      : 'mount the disk of JETON_DATA_DIR so that it can be written'
  const remedy = reason === 'the disk is full' ? 'free space on the disk of the database' : writable
  return failed('writes', `the database accepts none: ${reason}`, remedy)
}

/** A store that does not answer is a finding; what depends on it is unknown. */
async function examineOpenStore({ config, db, clock }: Deps): Promise<StoreExamined> {
  try {
    return await examineStore(config, db, clock.now)
  } catch (error) {
    const says = `${db.label} does not answer: ${(error as Error).message}`
    return unseenStore([failed('store', says, 'see the log of the service; jeton doctor --local')], undefined)
  }
}
