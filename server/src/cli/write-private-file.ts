import { chmodSync, renameSync, writeFileSync } from 'node:fs'

/** For its owner only, also where a file that others can read was in its place. Renamed into it, so it is never half written. */
export function writePrivateFile(path: string, text: string): void {
  const beside = `${path}.${process.pid}`
  writeFileSync(beside, text, { mode: 0o600 })
  chmodSync(beside, 0o600)
  renameSync(beside, path)
}
