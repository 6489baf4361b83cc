import { describeConfig } from '../platform/config/index.ts'
import { type Io, printLine } from './io.ts'
import { printTable } from './print-table.ts'

export function showConfig(io: Io, options: { json?: boolean }): void {
  const settings = describeConfig(io.env)
  if (options.json) printLine(io, JSON.stringify(settings, null, 2))
  else printTable(io, ['name', 'value', 'from'], settings)
}
