import { readdirSync, readFileSync } from 'node:fs'

/** Resources of a process and its children, read from Linux's `/proc`. */
export interface ProcessUse {
  /** User and system time, including children that have ended. */
  readonly cpuMicros: number
  readonly rssBytes: number
  /** Sum of the peak of each process. */
  readonly peakBytes: number
  /** Bytes that the processes gave to the disk, without those of children that have ended. */
  readonly writtenBytes: number
}

const TICK_MICROS = 10_000
const PAGE_BYTES = 4_096

/** Empty if the process has ended. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function statOf(pid: number) {
  const text = readProc(pid, 'stat')
  // The name in front of the fields may contain spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const sum = (...indexes: number[]) => indexes.reduce((total, i) => total + Number(fields[i] ?? 0), 0)
  return { parent: sum(1), ticks: sum(11, 12, 13, 14), pages: sum(21) }
}

const peakOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readProc(pid, 'status'))?.[1] ?? 0) * 1024

const writtenBy = (pid: number): number => Number(/^write_bytes: (\d+)$/m.exec(readProc(pid, 'io'))?.[1] ?? 0)

export function useOf(root: number): ProcessUse {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
  const stats = new Map(pids.map((pid) => [pid, statOf(pid)]))
  const isOwn = (pid: number): boolean => pid === root || (pid > 1 && isOwn(stats.get(pid)?.parent ?? 0))
  const own = pids.filter(isOwn)
  const sum = (pick: (pid: number) => number) => own.reduce((total, pid) => total + pick(pid), 0)
  return {
    cpuMicros: sum((pid) => stats.get(pid)!.ticks) * TICK_MICROS,
    rssBytes: sum((pid) => stats.get(pid)!.pages) * PAGE_BYTES,
    peakBytes: sum(peakOf),
    writtenBytes: sum(writtenBy),
  }
}
