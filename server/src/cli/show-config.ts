import { describeConfig } from '../platform/config/index.ts'
import { type Io, printLine, remark } from './io.ts'
import { printTable } from './print.ts'

export const SHELL_SETTINGS =
  'These are the settings of this shell. A service started elsewhere may have others: run this with its environment.'

export function showConfig(io: Io, options: { json?: boolean }): void {
  const settings = describeConfig(io.env)
  if (options.json) printLine(io, JSON.stringify(settings, null, 2))
  else printTable(io, ['name', 'value', 'from'], settings)
  remark(io, SHELL_SETTINGS)
}
