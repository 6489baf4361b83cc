import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser of the run takes connections. Empty if none is installed. */
    browserEndpoint: string
  }
}

const root = fileURLToPath(new URL('..', import.meta.url))
const BUILT = join(root, 'dist/index.html')
const SOURCES = ['src', 'index.html', 'vite.config.ts', 'package.json']

/** Time of the latest change in a file or folder. */
function changedAt(path: string): number {
  const found = statSync(path)
  if (!found.isDirectory()) return found.mtimeMs
  const inside = readdirSync(path).map((name) => changedAt(join(path, name)))
  return Math.max(found.mtimeMs, ...inside)
}

/** Builds the console unless the build is newer than its sources. */
function buildConsole(): void {
  const isBuilt = existsSync(BUILT)
  if (isBuilt && SOURCES.every((name) => changedAt(join(root, name)) <= statSync(BUILT).mtimeMs)) return
  const script = join(root, 'scripts/build.js')
  const { status } = spawnSync(process.execPath, [script], { stdio: 'inherit' })
  if (status !== 0) throw new Error('The console could not be built.')
}

/** The path of Chromium, or undefined. */
function findChromium(): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Names other than those of this machine do not resolve, so that no request can leave it. */
export const LOOPBACK_ONLY = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = findChromium()
  if (executablePath === undefined) {
    process.stdout.write('Tests of the console are skipped: install the package "chromium" to run them.\n')
    project.provide('browserEndpoint', '')
    return async () => undefined
  }
  buildConsole()
  const browser = await chromium.launchServer({ executablePath, args: [LOOPBACK_ONLY], host: '127.0.0.1' })
  project.provide('browserEndpoint', browser.wsEndpoint())
  return () => browser.close()
}
