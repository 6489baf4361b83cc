import { spawn } from 'node:child_process'
import type { Environment } from '../platform/config/index.ts'

/** The program that opens a link. Undefined without a desktop, where `xdg-open` would start a browser for terminals. */
function openerOf(env: Environment): string | undefined {
  if (process.platform === 'darwin') return 'open'
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined
}

/** Returns whether a browser was started. It keeps running after the command. */
export function openBrowser(url: string, env: Environment): Promise<boolean> {
  const opener = openerOf(env)
  if (!opener) return Promise.resolve(false)
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
    child.unref()
  })
}
