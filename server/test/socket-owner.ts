import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')

/** Earlier owners are searched first, since a search of every process takes long. */
const owners = new Set<string>()

/** The process that holds the server's end of a connection on this machine, as Linux reports it. */
export function socketOwner(serverPort: number, clientPort: number): number {
  const inode = inodeOf(serverPort, clientPort)
  const isOwner = (pid: string) => holds(pid, inode)
  const pid =
    [...owners].find(isOwner) ?? readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && isOwner(entry))
  if (!pid) throw new Error('Nobody holds the other end of the connection.')
  owners.add(pid)
  return Number(pid)
}

function inodeOf(local: number, remote: number): string {
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6'])
    for (const line of readFileSync(file, 'utf8').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      if (fields[1]?.endsWith(`:${hex(local)}`) && fields[2]?.endsWith(`:${hex(remote)}`)) return fields[9]!
    }
  throw new Error(`There is no connection from ${remote} to ${local}.`)
}

function holds(pid: string, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some(
      (fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`,
    )
  } catch {
    // It has ended meanwhile, or is not ours to look into.
    return false
  }
}
