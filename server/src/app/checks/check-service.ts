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
    checkProcesses(config),
    ...checkProxies(config, production),
    ...(production ? checkProduction(config, store, trust) : []),
  ]
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
