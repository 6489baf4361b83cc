import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../docs/security-model.md', import.meta.url), 'utf8')
/** [`limits.test.ts`](../server/test/flows/limits.test.ts) "gives exactly …" */
const CITED = /\[`([^`]+)`\]\(\.\.\/([^)]+)\) "([^"]+)"/g

test('every test that the security model names is there', () => {
  const cited = [...page.matchAll(CITED)]
  expect(cited.length).toBeGreaterThan(30)
  for (const [, shown, path, name] of cited) {
    const file = new URL(`../../${path}`, import.meta.url)
    expect(existsSync(file), path).toBe(true)
    expect(path!.endsWith(`/${shown}`), `${shown} leads to ${path}`).toBe(true)
    const text = readFileSync(file, 'utf8').replaceAll("\\'", "'")
    // As the title of a test, and not only somewhere in its text.
    const titles = [`'${name}`, `"${name}`, `\`${name}`]
    expect(
      titles.some((title) => text.includes(title)),
      `${path}: "${name}"`,
    ).toBe(true)
  }
})

test('every guarantee in the security model names a test', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && line.split('|').length === 5)
  const promises = rows.filter(
    (line) => !/^\| (guarantee|actor|operator|API |anonymous|webhook receiver|reader)/.test(line),
  )
  expect(promises.length).toBeGreaterThan(20)
  for (const promise of promises) expect(promise).toMatch(CITED)
})
