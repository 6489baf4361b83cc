import fc from 'fast-check'
import { SEED } from './faults/run-settings.ts'

// Every run tries other cases. TEST_SEED=7 npm test repeats those of the run that printed 7.
fc.configureGlobal({ seed: SEED })

export { default } from 'fast-check'
