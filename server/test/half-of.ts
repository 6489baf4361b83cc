/**
 * Half of the cases, chosen by the seed, if TEST_CASES is `half`. The gate has no time for all of them in one run; the other half
 * runs with another seed.
 */
export function halfOf<T>(cases: readonly T[]): readonly T[] {
  if (process.env.TEST_CASES !== 'half') return cases
  const remainder = Number(process.env.TEST_SEED) % 2
  return cases.filter((_, at) => at % 2 === remainder)
}
