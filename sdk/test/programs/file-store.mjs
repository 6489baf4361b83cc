import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A TokenStore in a folder, which any number of processes share. Creating a folder is atomic, so it is the lock. */
export function fileStore(folder) {
  const pathOf = (key, ending) => join(folder, createHash('sha256').update(key).digest('hex') + ending)
  return {
    async get(key) {
      try {
        return readFileSync(pathOf(key, '.json'), 'utf8')
      } catch {
        return undefined
      }
    },
    async set(key, value) {
      const draft = pathOf(key, `.${process.pid}.draft`)
      writeFileSync(draft, value)
      renameSync(draft, pathOf(key, '.json'))
    },
    async lock(key, ttlMs) {
      const path = pathOf(key, '.lock')
      try {
        if (Date.now() - statSync(path).mtimeMs > ttlMs) rmSync(path, { recursive: true })
      } catch {
        // Nobody holds the lock.
      }
      try {
        mkdirSync(path)
        return true
      } catch {
        return false
      }
    },
    async unlock(key) {
      rmSync(pathOf(key, '.lock'), { recursive: true, force: true })
    },
  }
}
