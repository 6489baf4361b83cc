import { describe, expect, test } from 'vitest'
import { closest, didYouMean } from './closest.ts'

describe('a suggestion', () => {
  test.each([
    ['reward', ['loyalties', 'rewards'], 'rewards'],
    ['skus', ['SKUs', 'segments'], 'SKUs'],
    ['JETON_PROT', ['JETON_HOST', 'JETON_PORT'], 'JETON_PORT'],
  ])('for %s is the nearest candidate', (word, candidates, meant) => {
    expect(closest(word, candidates)).toBe(meant)
    expect(didYouMean(word, candidates)).toBe(` Did you mean ${meant}?`)
  })

  test.each([
    ['xyz', ['loyalties', 'rewards']],
    ['', ['api', 'ab']],
    ['rewards', []],
    ['a'.repeat(65), ['a'.repeat(64)]],
  ])('is omitted if nothing is similar (%s)', (word, candidates) => {
    expect(closest(word, candidates)).toBeUndefined()
    expect(didYouMean(word, candidates)).toBe('')
  })
})
