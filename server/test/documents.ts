import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Document {
  /** From the root of the checkout. */
  readonly path: string
  readonly text: string
}

export const readDocument = (path: string): Document => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
})

/** Every file in these folders, however deep. */
export function readDocuments(...folders: string[]): Document[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readDocument(join(entry.parentPath, entry.name).slice(ROOT.length)))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  )
}
