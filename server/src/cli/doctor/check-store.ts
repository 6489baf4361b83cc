import { examineStore, type StoreExamined, saneClock, unseenStore } from '../../app/checks/check-store.ts'
import { type Finding, failed, ok, unknown } from '../../app/checks/finding.ts'
import { canCreateSample } from '../../app/first-start.ts'
import type { Config } from '../../platform/config/index.ts'
import { explainFailure } from '../exit.ts'
import { openExisting, sqliteFile, storeExists } from '../store.ts'

interface StoreOptions {
  readonly now: () => number
  /** With --production a missing store is unknown, because the service may use another one. */
  readonly production: boolean
}

/** Opens the store of these settings and checks it. */
export async function checkStore(config: Config, { now, production }: StoreOptions): Promise<StoreExamined> {
  const notYet = production ? unknown : ok
  if (!storeExists(config)) {
    const says = `SQLite ${sqliteFile(config)} does not exist yet; the first start creates it`
    return unseenStore([notYet('store', says), saneClock(now()), operatorOfNew(config, notYet)], [])
  }
  try {
    const db = await openExisting(config)
    return await examineStore(config, db, now).finally(() => db.close())
  } catch (error) {
    const [says = ''] = explainFailure(error).text.split('\n', 1)
    return unseenStore([failed('store', says, remedyFor(config))], undefined)
  }
}

const remedyFor = (config: Config): string =>
  config.JETON_DATABASE_URL
    ? 'fix JETON_DATABASE_URL, or start PostgreSQL'
    : 'fix it, or JETON_DATA_DIR=<another directory>'

function operatorOfNew(config: Config, notYet: typeof ok): Finding {
  if (config.JETON_MANAGEMENT_ID) return ok('operator', `${config.JETON_MANAGEMENT_ID}, from the settings`)
  if (canCreateSample(config)) return notYet('operator', 'the first start creates one')
  return failed('operator', 'none', 'jeton operator create --local --save')
}
