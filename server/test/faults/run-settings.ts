/** Duration of the tests of faults and hostile input: short in the gate, longer by hand. */
export const LONG = process.env.FAULTS_LONG === 'on'
const MINUTES = Number(process.env.FAULTS_MINUTES ?? 2)

/** Printed at the start of a run, which chooses it. The same seed gives the same choices, though not the same timing. */
export const SEED = Number(process.env.TEST_SEED)

/** Requests that the fuzzer sends to each engine. */
export const FUZZ_REQUESTS = Number(process.env.FAULTS_REQUESTS ?? (LONG ? 60_000 : 2_500))

/** Rounds of a fault: a fixed number in the short form, and as many as fit into the minutes of the long form. */
export function* rounds(short: number): Generator<number> {
  const end = Date.now() + MINUTES * 60_000
  for (let round = 0; LONG ? Date.now() < end || round < short : round < short; round++) yield round
}

/** For a test that runs `rounds`. */
export const TEST_TIMEOUT_MS = LONG ? (MINUTES + 15) * 60_000 : 240_000
