import { type StdioOptions, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { ended, isInstalled, WATCH } from './proxy.ts'

const START_WITHIN_MS = 60_000

/** Debian's `webhook`: a webhook receiver of another author. */
export const hasWebhookServer = isInstalled('webhook')

interface WebhookServer {
  readonly url: string
  /** Accepted bodies in order of arrival. */
  accepted(): string[]
  stop(): Promise<void>
}

/** Runs it with one hook, which is triggered by what `x-voucherify-signature` was made for with this secret. */
export async function startWebhookServer(secret: string): Promise<WebhookServer> {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-webhook-'))
  const port = await freePort()
  const got = join(folder, 'accepted')
  writeFileSync(got, '')
  writeFileSync(join(folder, 'run'), '#!/bin/sh\nprintf "%s\\n" "$1" >> accepted\n', { mode: 0o755 })
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify([hookOf(folder, secret)]))
  const where = ['-hooks', join(folder, 'hooks.json'), '-ip', '127.0.0.1', '-port', String(port)]
  const stdio: StdioOptions = ['pipe', 'ignore', 'ignore']
  const child = spawn('sh', ['-c', WATCH, 'sh', 'webhook', ...where], { stdio })
  await answering(`http://127.0.0.1:${port}/`)
  return {
    url: `http://127.0.0.1:${port}/hooks/jeton`,
    accepted: () => readFileSync(got, 'utf8').split('\n').filter(Boolean),
    async stop() {
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const hookOf = (folder: string, secret: string) => ({
  id: 'jeton',
  'execute-command': join(folder, 'run'),
  'command-working-directory': folder,
  'include-command-output-in-response': true,
  'pass-arguments-to-command': [{ source: 'entire-payload' }],
  'trigger-rule': {
    match: {
      type: 'payload-hmac-sha256',
      secret,
      parameter: { source: 'header', name: 'X-Voucherify-Signature' },
    },
  },
})

async function answering(url: string): Promise<void> {
  const late = Date.now() + START_WITHIN_MS
  while (!(await fetch(url).catch(() => null))) {
    if (Date.now() > late) throw new Error('The webhook server did not start.')
    await wait(25)
  }
}
