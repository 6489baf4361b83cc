import { readdirSync, readFileSync } from 'node:fs'

/** What a process and all that it has started have used, as Linux tells. */
export interface TreeUse {
  /** Processor time, user and system, of those that have ended as well. */
  readonly cpuMicros: number
  /** Of the first thread of each: where Node has its event loop. */
  readonly mainMicros: number
  readonly rssBytes: number
  /** The most that each has ever held, taken together. */
  readonly peakBytes: number
}

/** Linux counts in hundredths of a second, and memory in pages. */
const TICK_MICROS = 10_000
const PAGE_BYTES = 4_096

interface Stat {
  readonly parent: number
  readonly ticks: number
  /** Of its children that have ended. */
  readonly endedTicks: number
  readonly pages: number
}

function statOf(file: string): Stat | undefined {
  try {
    const text = readFileSync(file, 'utf8')
    // The name before it, in brackets, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const at = (place: number) => Number(fields[place])
    return { parent: at(1), ticks: at(11) + at(12), endedTicks: at(13) + at(14), pages: at(21) }
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

export function treeUse(root: number): TreeUse {
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  const stats = new Map(pids.map((pid) => [pid, statOf(`/proc/${pid}/stat`)]))
  const belongs = (pid: number): boolean => pid === root || (pid > 1 && belongs(stats.get(pid)?.parent ?? 0))
  const own = pids.filter(belongs)
  const sum = (pick: (stat: Stat) => number) =>
    own.reduce((all, pid) => all + (stats.get(pid) ? pick(stats.get(pid)!) : 0), 0)
  const mainTicks = own.reduce((all, pid) => all + (statOf(`/proc/${pid}/task/${pid}/stat`)?.ticks ?? 0), 0)
  return {
    cpuMicros: sum(({ ticks, endedTicks }) => ticks + endedTicks) * TICK_MICROS,
    mainMicros: mainTicks * TICK_MICROS,
    rssBytes: sum(({ pages }) => pages) * PAGE_BYTES,
    peakBytes: own.reduce((all, pid) => all + peakOf(pid), 0),
  }
}
