import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT, readDocument } from './documents.ts'
import { ALERTS, hasPrometheus, PROMETHEUS_MISSING } from './prometheus.ts'

interface Rule {
  readonly alert: string
  readonly annotations: Readonly<Record<string, string>>
}
interface RuleTest {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[]
}

const TESTS = 'deploy/prometheus/alerts.test.yaml'
const rules: readonly Rule[] = parse(readDocument(ALERTS).text).groups[0].rules
const expectations = (parse(readDocument(TESTS).text).tests as RuleTest[]).flatMap(
  (one) => one.alert_rule_test,
)

describe('the alert rules', () => {
  test('are each tested to fire in one situation and to stay silent in another', () => {
    const tested = (isFiring: boolean) =>
      new Set(
        expectations.filter((one) => one.exp_alerts.length > 0 === isFiring).map((one) => one.alertname),
      )
    const names = new Set(rules.map(({ alert }) => alert))
    expect(tested(true)).toEqual(names)
    expect(tested(false)).toEqual(names)
  })

  test('name a command of the command line, a page of the documentation, or the log to read', () => {
    const commands = readDocument('docs/reference/cli.md').text
    for (const { alert, annotations } of rules) {
      const { do: remedy = '' } = annotations
      const used = [...remedy.matchAll(/\bjeton ([a-z-]+(?: [a-z-]+)?)/g)].map(([, command]) => command!)
      const pages = [...remedy.matchAll(/docs\/[\w/-]+\.md/g)].map(([path]) => path)
      expect(used.length + pages.length + Number(/\blog lines?\b/.test(remedy)), alert).toBeGreaterThan(0)
      for (const path of pages) expect(readDocument(path).text).not.toBe('')
      for (const command of used) {
        const isKnown = [command, command.split(' ')[0]].some((name) =>
          commands.includes(`\njeton ${name} [`),
        )
        expect(isKnown, `${alert}: jeton ${command}`).toBe(true)
      }
    }
  })
})

describe.skipIf(!hasPrometheus)(`promtool${hasPrometheus ? '' : PROMETHEUS_MISSING}`, () => {
  test.each([
    ['check', 'rules', ALERTS],
    ['test', 'rules', TESTS],
  ])('promtool %s %s succeeds', (...args) => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: ROOT, encoding: 'utf8' })
    expect(status, stdout + stderr).toBe(0)
  })
})
