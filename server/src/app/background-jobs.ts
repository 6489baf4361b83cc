import { HEARTBEAT_EVERY_MS } from '../features/processes/index.ts'

/** Jobs of a process besides those of deliveries and notices. */
export const HEARTBEAT_JOB = {
  name: 'heartbeat',
  purpose: 'Reports that this process runs, and which changes of keys it applies',
  everyMs: HEARTBEAT_EVERY_MS,
}

/** Applies changes in this process even if no notification arrives. The guarantee is 2 s. */
export const CHANGES_JOB = {
  name: 'changes',
  purpose: 'Reads changes of keys and revoked tokens',
  everyMs: 1_000,
}

export const FLUSH_JOB = {
  name: 'flush',
  purpose: 'Stores refusals and when operators and keys were last used',
  everyMs: 2_000,
}

export const USAGE_JOB = {
  name: 'usage',
  purpose: 'Adds the counted requests and deliveries to the usage',
  everyMs: 10_000,
}

export const CLEAN_UP_JOB = {
  name: 'clean-up',
  purpose: 'Deletes expired tokens and what is older than its retention',
  everyMs: 10_000,
}
