import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PAGES } from '../../src/app/docs/pages.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { readDocuments } from '../documents.ts'
import { send, startService, type TestService } from '../service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ JETON_DATA_DIR: newFolder('docs') }, { clock: systemClock, worker: false })
})
afterAll(() => service.stop())

const documents = readDocuments('docs').filter(({ path }) => path.endsWith('.md'))

describe('the documentation of a running server', () => {
  test('the documentation of a server has every page of docs/ except the decision records', () => {
    const files = documents.map(({ path }) => path.slice('docs/'.length, -'.md'.length))
    const expected = files.filter((path) => !path.startsWith('decisions/'))
    expect(PAGES.map(({ path }) => path).toSorted()).toEqual(expected.toSorted())
  })

  test('every page of the documentation has navigation, and its links and images work', async () => {
    const pages = new Map<string, string>()
    for (const { path, title } of PAGES) {
      const { status, text } = await send(`${service.url}/docs/${path}`)
      expect([status, path]).toEqual([200, path])
      expect(text).toContain('<nav aria-label="Documentation">')
      expect(text).toMatch(/<h1 id=/)
      expect(text).toContain(`<title>${title}: Jeton</title>`)
      pages.set(`/docs/${path}`, text)
    }
    const broken: string[] = []
    for (const [from, text] of pages)
      for (const [, target] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        if (/^https?:/.test(target!)) continue
        const { pathname, hash } = new URL(target!, `http://docs${from}`)
        const known = pages.get(pathname)
        const exists = known !== undefined || (await send(service.url + pathname)).status === 200
        const hasAnchor = hash === '' || known?.includes(`id="${decodeURIComponent(hash.slice(1))}"`)
        if (!exists || !hasAnchor) broken.push(`${from}: ${target}`)
      }
    expect(broken).toEqual([])
  })

  test('the documentation loads nothing from other hosts and runs no inline script', async () => {
    for (const path of ['/docs', '/docs/concepts']) {
      const { headers, text } = await send(service.url + path)
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|https?:|\*/)
      expect(text).not.toMatch(/<script(?! src)|<style|style=| on\w+=/)
    }
  })

  test('the search of the documentation finds pages by their text', async () => {
    const { body } = await send(`${service.url}/docs/search.json`)
    const entries = body as { url: string; text: string }[]
    const found = entries.filter(({ text }) => text.includes('Retry-After')).map(({ url }) => url)
    expect(found).toContain('/docs/guides/tokens#errors')
  })

  test.each(['..%2F..%2FREADME', 'decisions/0010-webhook-delivery', 'toString', 'diagrams/..%2Fconcepts.md'])(
    'the documentation serves no other file: %s',
    async (path) => {
      expect((await send(`${service.url}/docs/${path}`)).status).toBe(404)
    },
  )
})

test('every diagram matches its source', () => {
  const files = new Map(readDocuments('docs/diagrams').map(({ path, text }) => [path, text]))
  const sources = [...files].filter(([path]) => path.endsWith('.mmd'))
  expect(sources.length).toBeGreaterThan(3)
  for (const [path, text] of sources) {
    const hash = createHash('sha256').update(text).digest('hex')
    expect(files.get(path.replace('.mmd', '.svg')), path).toContain(hash)
  }
})
