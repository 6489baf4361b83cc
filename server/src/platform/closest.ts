function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}

/** Returns the most similar candidate, if it is similar enough to suggest. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 64) return undefined
  let best: string | undefined
  let least = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const d = distance(word.toLowerCase(), candidate.toLowerCase())
    if (d < least && d < candidate.length) [best, least] = [candidate, d]
  }
  return best
}

export function didYouMean(word: string, candidates: readonly string[]): string {
  const guess = closest(word, candidates)
  return guess ? ` Did you mean ${guess}?` : ''
}
