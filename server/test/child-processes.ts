import { readFileSync } from 'node:fs'
import type { Running } from './binary.ts'

/** The child processes of a service, as Linux reports them. */
export const childrenOf = ({ child }: Running): number[] =>
  readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(/\s+/).map(Number)

export function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
