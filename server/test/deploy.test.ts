import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readDeclaration } from '../src/cli/apply/read-declaration.ts'
import type { Io } from '../src/cli/io.ts'
import { readCatalogue } from '../src/cli/operations.ts'
import { CREDENTIAL_PREFIX, ID_PREFIX, WEBHOOK_SECRET_PREFIX } from '../src/contract/ids.ts'
import { METRICS } from '../src/contract/metrics.ts'
import { SETTING_NAMES } from '../src/platform/config/read-config.ts'
import { type Document, ROOT, readDocument, readDocuments } from './documents.ts'
import { type MetricsShown, readMetrics } from './metrics-shown.ts'

const known = new Set<string>(SETTING_NAMES)
const namesIn = ({ text }: Document): string[] =>
  [...text.matchAll(/\bJETON_[A-Z0-9_]*[A-Z0-9]\b(?!\*)/g)].map(([name]) => name)

const documents = [
  ...readDocuments('deploy', 'docs'),
  ...['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CONTRIBUTING.md'].map(readDocument),
]

describe('what is shipped beside the program', () => {
  test('was found', () => {
    const paths = documents.map(({ path }) => path)
    for (const path of [
      'deploy/Dockerfile',
      'deploy/compose.yaml',
      'deploy/jeton.service',
      'deploy/kubernetes/service.yaml',
      'docs/operate/deploy.md',
    ])
      expect(paths).toContain(path)
  })

  test('names only settings that exist', () => {
    const unknown = documents.flatMap((document) =>
      namesIn(document)
        .filter((name) => !known.has(name))
        .map((name) => `${document.path}: ${name}`),
    )
    expect(unknown).toEqual([])
  })

  test('is a set-up that apply accepts, in the job for Kubernetes', async () => {
    const { text } = readDocument('deploy/kubernetes/apply.yaml')
    const setUp = parseAllDocuments(text).find((one) => one.get('kind') === 'ConfigMap')!
    const io = { env: {}, readInput: async () => setUp.getIn(['data', 'jeton.yaml']) } as unknown as Io
    const projects = await readDeclaration(io, { path: '-', catalogue: readCatalogue() })
    expect(projects).toMatchObject([{ name: 'Club Europe', keys: [{ name: 'till' }] }])
    const { resources } = parse(readDocument('deploy/kubernetes/kustomization.yaml').text)
    expect(resources).toContain('apply.yaml')
  })

  test('links only to files that are there', () => {
    const broken = documents
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
          .map(([, target]) => new URL(target!, `file:///${path}`).pathname.slice(1))
          .filter((target) => !existsSync(join(ROOT, target)))
          .map((target) => `${path}: ${target}`),
      )
    expect(broken).toEqual([])
  })
})

describe('the metrics of a running service', () => {
  let shown: MetricsShown
  beforeAll(async () => {
    shown = await readMetrics()
  })

  test('are all in the catalog, with their types and labels, and nothing else is', () => {
    // Only the supervisor of several HTTP processes has the first one, and only a process that exports traces the second.
    const { jeton_workers_replaced_total: _, jeton_trace_spans_dropped_total: __, ...expected } = METRICS
    const types = Object.entries(expected).map(([name, { type }]) => [name, type])
    expect(Object.fromEntries(shown.types)).toEqual(Object.fromEntries(types))
    for (const [name, { type, labels = [], aggregate }] of Object.entries(expected)) {
      // Only with a backlog; `delivery-metrics.test.ts` checks their labels.
      if (aggregate === 'any') continue
      const own = shown.labels.get(type === 'histogram' ? `${name}_count` : name) ?? []
      expect(own.toSorted(), name).toEqual(labels.toSorted())
    }
  })

  test('have the names and labels that the alerts use', () => {
    const alerts = readDocument('deploy/prometheus/alerts.yaml').text.replace(/^\s*#.*$/gm, '')
    const expressions = [...alerts.matchAll(/expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/g)].map(
      ([, folded, single]) => folded ?? single!,
    )
    expect(expressions).toHaveLength(alerts.split('- alert: ').length - 1)
    for (const expression of expressions) {
      const used = [...expression.matchAll(/\b((?:jeton|process|nodejs)_\w+|up)(?:\{(\w+)!?="\w+"\})?/g)]
      expect(used.length, expression).toBeGreaterThan(0)
      for (const [, name, label] of used) {
        // Prometheus itself adds whether a target answers, and from where a figure comes.
        const known = [...Object.keys(METRICS), 'up']
        expect(known, expression).toContain(name!.replace(/_(count|sum|bucket)$/, ''))
        if (label !== undefined && label !== 'job')
          expect(shown.labels.get(name!), expression).toContain(label)
      }
    }
  })
})

describe('the glossary', () => {
  const { text } = readDocument('docs/concepts.md')

  test('has the prefixes that are in use', () => {
    const known = [...Object.values(ID_PREFIX), ...Object.values(CREDENTIAL_PREFIX), WEBHOOK_SECRET_PREFIX]
    const named = [...text.matchAll(/`(\w+_)…`/g)].map(([, prefix]) => prefix!)
    expect(named.filter((prefix) => !known.includes(prefix as never))).toEqual([])
  })
})
