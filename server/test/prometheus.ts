import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { ROOT } from './documents.ts'
import { freePort } from './free-port.ts'
import { ended, isInstalled, WATCH } from './proxy.ts'
import { send } from './service.ts'

export const ALERTS = 'deploy/prometheus/alerts.yaml'

/** Debian's package has both programs. */
export const hasPrometheus = isInstalled('prometheus') && isInstalled('promtool')
export const PROMETHEUS_MISSING =
  ': skipped, since Prometheus is not installed (apt-get install -y prometheus)'

const START_WITHIN_MS = 60_000

export interface Result {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

export interface Prometheus {
  /** Calls its HTTP API, and fails on every answer that is not a success. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the path
  api(path: string, parameters?: Readonly<Record<string, string>>): Promise<any>
  query(expression: string): Promise<Result[]>
  stop(): Promise<void>
}

/** Scrapes these targets every second as the job "jeton", with the shipped alert rules. */
export async function startPrometheus(targets: readonly string[]): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-prometheus-'))
  const config = join(folder, 'prometheus.yml')
  const address = `127.0.0.1:${await freePort()}`
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(ROOT, ALERTS)],
      scrape_configs: [{ job_name: 'jeton', static_configs: [{ targets }] }],
    }),
  )
  const where = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${folder}`,
    `--web.listen-address=${address}`,
  ]
  const child = spawn('sh', ['-c', WATCH, 'sh', 'prometheus', ...where], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let printed = ''
  child.stderr!.on('data', (chunk: Buffer) => (printed = (printed + chunk).slice(-4_000)))
  await becomesReady(`http://${address}/-/ready`, () => printed)

  const api: Prometheus['api'] = async (path, parameters = {}) => {
    const url = `http://${address}/api/v1/${path}?${new URLSearchParams(parameters)}`
    const { body, text } = await send(url)
    if (body?.status !== 'success') throw new Error(`${path} ${JSON.stringify(parameters)}: ${text}`)
    return body.data
  }
  return {
    api,
    query: async (expression) => {
      const { result, resultType } = await api('query', { query: expression })
      return resultType === 'vector' ? result : [{ metric: {}, value: result }]
    },
    async stop() {
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function becomesReady(url: string, printed: () => string): Promise<void> {
  const deadline = Date.now() + START_WITHIN_MS
  while ((await send(url).catch(() => undefined))?.status !== 200) {
    if (Date.now() > deadline) throw new Error(`Prometheus did not start: ${printed()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
