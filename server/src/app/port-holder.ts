import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/** Describes the process that listens on a port, for example `pid 4312 (node)`; undefined if Linux does not show it. */
export function portHolder(port: number): string | undefined {
  try {
    const inode = listeningInode(port)
    const pid = inode && readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && holds(entry, inode))
    return pid ? `pid ${pid} (${basename(readlinkSync(`/proc/${pid}/exe`))})` : undefined
  } catch {
    return undefined
  }
}

const LISTEN = '0A'

function listeningInode(port: number): string | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6'])
    for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      if (fields[1]?.endsWith(`:${hex}`) && fields[3] === LISTEN) return fields[9]
    }
  return undefined
}

function holds(pid: string, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(
      (fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`,
    )
  } catch {
    return false
  }
}
