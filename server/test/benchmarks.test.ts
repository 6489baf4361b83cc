import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { documentsWith } from '../../bench/publish.ts'
import { type Report, reasonNotToPublish } from '../../bench/report.ts'
import { meetsTarget } from '../../bench/targets.ts'
import { readDocument } from './documents.ts'

const published: Report = JSON.parse(
  readFileSync(new URL('../../bench/results.json', import.meta.url), 'utf8'),
)

test('the README and the page of benchmarks show the figures of one run', () => {
  for (const [path, text] of Object.entries(documentsWith(published)))
    expect(readDocument(path).text, path).toBe(text)
})

const row = { scenario: 'issue', subject: 'Jeton', bareSpread: 0.29 }
const report = (changes: Partial<Report>): Report => ({ ...published, quick: false, rows: [row], ...changes })

test('a quick, noisy or incomplete run is not published', () => {
  expect(reasonNotToPublish(report({}))).toBeUndefined()
  expect(reasonNotToPublish(report({ quick: true }))).toContain('quick')
  expect(reasonNotToPublish(report({ rows: [row, { ...row, bareSpread: 0.3 }] }))).toContain('varied by 30 %')
  expect(reasonNotToPublish(report({ rows: [row, { ...row, noResult: 'refused' }] }))).toContain('no result')
})

test('a row meets its target, misses it, or has none', () => {
  const ratio = { median: 0.8, lowest: 0.7, highest: 0.9 }
  expect(meetsTarget({ ...row, ratio })).toBeUndefined()
  expect(meetsTarget({ ...row, ratio, target: { sign: '≥', value: 0.8 } })).toBe(true)
  expect(meetsTarget({ ...row, ratio, target: { sign: '≥', value: 0.81 } })).toBe(false)
  expect(meetsTarget({ ...row, memoryMb: 300, target: { sign: '<', value: 300 } })).toBe(false)
  expect(meetsTarget({ ...row, noResult: 'refused', target: { sign: '≤', value: 2 } })).toBe(false)
})
