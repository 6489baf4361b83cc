import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BINARY, makeHome, sampleKeyIn, serveBinary } from '../binary.ts'
import { type Document, ROOT, readDocument, readDocuments } from '../documents.ts'
import { freePort } from '../free-port.ts'
import { type Block, blocksOf, filesOf, MARKER, promisedStatuses, scriptOf, strayCommands } from '../guide.ts'
import { isInstalled, startProxy, startUpstream } from '../proxy.ts'

const guides = [
  readDocument('docs/quickstart.md'),
  ...readDocuments('docs/guides', 'docs/operate', 'docs/reference'),
].filter(({ path }) => path.endsWith('.md'))
const proxy = isInstalled('nginx') ? 'nginx' : isInstalled('caddy') ? 'Caddy' : undefined

/** Output that a page must print. Every command must also succeed. */
const EXPECTED: Readonly<Record<string, readonly RegExp[]>> = {
  'docs/quickstart.md': [/14 of 14/, /GET \/v1\/campaigns +refused/, /processed whs_\w+/],
  'docs/guides/tokens.md': [/rewards: 200/, /"active":true/],
  'docs/guides/receive-webhooks.md': [
    /processed whs_\w+ {2}EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED/,
    /→ {2}204/,
  ],
  'docs/guides/report-redemptions.md': [/"duplicate":false/, /"duplicate":true/],
  'docs/guides/loyalty.md': [/SAMPLE-1/],
  'docs/guides/protect-an-api.md': [/insufficient_scope|requires "campaigns"/],
  'docs/operate/back-up.md': [/jeton\.backup/],
  'docs/operate/console.md': [/console\/#code=jtl_/],
  'docs/operate/declarative-set-up.md': [
    /created distribution "Thank the customer"/,
    /Nothing to change/,
    /MAIL|CLUB_EUROPE/,
  ],
  'docs/operate/deploy.md': [/JETON_PORT/],
  'docs/operate/monitor.md': [/jeton_tokens_issued_total/],
  'docs/operate/operators.md': [/role\s+admin/],
  'docs/operate/rotate-secrets.md': [/[1-9] re-encrypted/],
  'docs/operate/troubleshoot.md': [/insufficient_scope/, /last_used_from/, /dry_run\ttrue/],
  'docs/operate/upgrade.md': [/migrat/i],
}

/** Pages without commands, or about several machines, are not run. */
const runs = (guide: Document): boolean => guide.path in EXPECTED

interface Ran {
  readonly code: number | null
  readonly printed: string
  /** By block. */
  readonly parts: readonly string[]
}

/** The machine of a reader after the first start: a server, its sample, and a folder with the documents in it. */
async function runAsReader(guide: Document, blocks: readonly Block[]): Promise<Ran> {
  const home = makeHome()
  onTestFinished(() => home.remove())
  const server = await serveBinary({ home: home.folder })
  onTestFinished(async () => void (await server.stop()))
  await server.printed(/Ctrl-C/)
  const { appId, appToken } = sampleKeyIn(server.stdout())
  const addresses = await otherAddresses(new URL(server.url).port)
  const replaced = (text: string) =>
    Object.entries({ ...addresses.map, '127.0.0.1:8080': new URL(server.url).host }).reduce(
      (changed, [from, to]) => changed.replaceAll(from, to),
      text,
    )
  prepareFolder(home.folder, guide)
  const child = spawn('bash', ['-c', replaced(scriptOf(blocks))], {
    cwd: home.folder,
    env: {
      PATH: `${join(home.folder, 'bin')}:${process.env.PATH}`,
      HOME: home.folder,
      XDG_CONFIG_HOME: join(home.folder, '.config'),
      JETON_PORT: new URL(server.url).port,
      APP_ID: appId,
      APP_TOKEN: appToken,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // However the test ends: the shell kills its children once its input is closed.
  onTestFinished(() => void child.stdin.destroy())
  let [printed, answers] = ['', '']
  const code = await new Promise<number | null>((resolve) => {
    const hear = (chunk: string) => {
      printed += chunk
      const all = [new RegExp(`${MARKER} end`), ...(EXPECTED[guide.path] ?? [])]
      if (all.every((pattern) => pattern.test(printed))) child.stdin.end()
    }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      answers += chunk
      hear(chunk)
    })
    child.stderr.setEncoding('utf8').on('data', hear)
    child.once('close', resolve)
  })
  await addresses.close()
  const parts = answers.split(new RegExp(`^${MARKER} .*$`, 'm')).slice(1)
  return { code, printed, parts }
}

/** Ports that a guide names and that may be taken here. */
async function otherAddresses(jeton: string) {
  const map: Record<string, string> = {}
  const receiver = await freePort()
  map['localhost:3000'] = `localhost:${receiver}`
  map['PORT=3000'] = `PORT=${receiver}`
  const api = await startUpstream()
  const running = proxy && (await startProxy(proxy, { jeton: Number(jeton), api: api.port }))
  if (running) map['localhost:8000'] = new URL(running.url).host
  return {
    map,
    async close() {
      await running?.stop()
      await api.close()
    },
  }
}

/** `npx jeton` without asking npm each time, `node` as npm brings it along, the documents, and what the guide says to save. */
function prepareFolder(folder: string, guide: Document): void {
  mkdirSync(join(folder, 'bin'))
  const programs = {
    npx: `#!/bin/sh\n[ "$1" = jeton ] || exit 127\nshift\nexec "${process.execPath}" "${BINARY}" "$@"\n`,
    node: `#!/bin/sh\nexec "${process.execPath}" "$@"\n`,
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, 'bin', name), text)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  symlinkSync(join(ROOT, 'docs'), join(folder, 'docs'))
  for (const [name, text] of Object.entries(filesOf(guide))) writeFileSync(join(folder, name), text)
}

describe('the guides', () => {
  test('the guides show commands only in blocks that this test runs, or that say why it cannot', () => {
    expect(guides.length).toBeGreaterThan(4)
    for (const guide of guides) {
      expect(strayCommands(guide), guide.path).toEqual([])
      const left = runs(guide) ? [] : blocksOf(guide).filter(({ how }) => how !== 'not here')
      expect(left, `${guide.path} is not run and does not say so`).toEqual([])
    }
  })

  const missing = !['bash', 'curl', 'openssl'].every(isInstalled)
  const tools = missing ? ' (bash, curl or openssl is not installed here)' : ''

  test.skipIf(missing).each(guides.filter(runs))(
    `the commands in $path work as written${tools}`,
    async (guide) => {
      const blocks = blocksOf(guide).filter(
        ({ how }) => how !== 'not here' && (how !== 'with a proxy' || proxy !== undefined),
      )
      expect(blocks.length).toBeGreaterThan(0)
      const { code, printed, parts } = await runAsReader(guide, blocks)
      if (code !== 0) throw new Error(`ended with ${code}:\n${printed.slice(-3_000)}`)
      blocks.forEach((block, i) => {
        const promised = promisedStatuses(block)
        const answered = [...parts[i]!.matchAll(/HTTP\/1\.1 (\d{3})\b/g)].map(([, status]) => status)
        if (promised.length > 0) expect(answered, `${guide.path}:${block.line}`).toEqual(promised)
      })
    },
    240_000,
  )
})
