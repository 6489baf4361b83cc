import { coloured, type Io } from './io.ts'

/** How a step of a ladder is shown: passed or failed. */
export const mark = (io: Io, passed: boolean): string =>
  passed ? coloured(io, 'green', '✓') : coloured(io, 'red', '✗')
