import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { readReport } from './faults/report.ts'
import { printTable } from './faults/table.ts'
import { startPostgres } from './postgres-server.ts'
import { createPostgresTemplate, createSqliteTemplate } from './store-template.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the PostgreSQL server that all tests of a run share, each in a database of its own. */
    postgresUrl: string
    /** A migrated SQLite file without rows, to be copied. */
    migratedSqliteFile: string
  }
}

/** Collects the results of faults and hostile input in a file, and prints them as a table at the end of the run. */
function collectReport(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-report-'))
  const file = join(folder, 'report.jsonl')
  process.env.FAULTS_REPORT = file
  return () => {
    const rows = readReport(file)
    if (rows.length > 0) printTable(rows)
    rmSync(folder, { recursive: true, force: true })
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  process.stdout.write(`Seed of the random choices: ${process.env.TEST_SEED}. TEST_SEED repeats them.\n`)
  const printReport = collectReport()
  const server = await startPostgres()
  await createPostgresTemplate(server.url())
  const sqlite = await createSqliteTemplate()
  project.provide('postgresUrl', server.url())
  project.provide('migratedSqliteFile', sqlite.file)
  return async () => {
    printReport()
    sqlite.remove()
    await server.remove()
  }
}
