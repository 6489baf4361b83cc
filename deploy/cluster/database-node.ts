import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Daemon } from './daemon.ts'
import { processesOf } from './network.ts'
import { askJson } from './until.ts'

const PASSWORDS = { SUPERUSER_PASSWORD: 'superuser', REPLICATION_PASSWORD: 'replication' }
/** Patroni responds when the new leader has taken over. */
const SWITCHED_WITHIN_MS = 60_000
/** PostgreSQL refuses to run as root. */
const AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups']

export const superuserUrl = (address: string): string =>
  `postgres://postgres:${PASSWORDS.SUPERUSER_PASSWORD}@${address}:5432/postgres`

export interface Member {
  readonly name: string
  readonly role: 'leader' | 'sync_standby' | 'replica'
  readonly state: string
  readonly lag?: number | string
}

/** The template of the guide with its variables and folders. */
function fillIn(file: string, values: Readonly<Record<string, string>>): string {
  const template = readFileSync(new URL(file, import.meta.url), 'utf8')
  return Object.entries(values).reduce((text, [from, to]) => {
    if (!template.includes(from)) throw new Error(`${file} does not contain ${from}`)
    return text.replaceAll(from, to)
  }, template)
}

/** One etcd member, and one PostgreSQL under Patroni. */
export class DatabaseNode {
  readonly name: string
  readonly address: string
  readonly etcd: Daemon
  readonly patroni: Daemon

  constructor(name: string, address: string, folder: string) {
    this.name = name
    this.address = address
    const own = `${folder}/${name}`
    mkdirSync(own)
    const variables = { '${NODE}': name, '${ADDRESS}': address }
    const etcdEnv = fillIn('etcd.env', { ...variables, '/var/lib/etcd/jeton': `${own}/etcd` })
    const passwords = Object.entries(PASSWORDS).map(([key, value]) => [`\${${key}}`, value])
    const config = fillIn('patroni.yml', {
      ...variables,
      ...Object.fromEntries(passwords),
      '/var/lib/postgresql/15/jeton': `${own}/postgres`,
      '/var/run/postgresql': own,
    })
    writeFileSync(`${own}/patroni.yml`, config)
    execFileSync('chown', ['-R', 'postgres:postgres', own])
    const common = { node: name, logFolder: folder }
    const { PATH = '' } = process.env
    this.etcd = new Daemon({
      ...{ ...common, name: 'etcd', command: [...AS_POSTGRES, 'etcd'] },
      env: { PATH, ...Object.fromEntries([...etcdEnv.matchAll(/^(\w+)=(.*)$/gm)].map(([, k, v]) => [k, v])) },
    })
    const command = [...AS_POSTGRES, 'patroni', `${own}/patroni.yml`]
    this.patroni = new Daemon({ ...common, name: 'patroni', command, env: { PATH, HOME: own } })
  }

  start(): void {
    this.etcd.start()
    this.patroni.start()
  }

  /** As a shutdown of the machine: Patroni hands the leadership over first. */
  async stop(): Promise<void> {
    await this.patroni.stop()
    await this.etcd.stop()
  }

  /** Kills Patroni and every process of PostgreSQL. */
  async killDatabase(): Promise<void> {
    await this.patroni.stop('SIGKILL')
    for (const pid of processesOf(this.name)) {
      if (nameOf(pid) === 'postgres') process.kill(pid, 'SIGKILL')
    }
  }

  /** The members as this node sees them. */
  async members(): Promise<Member[]> {
    return (await askJson(`http://${this.address}:8008/cluster`)).body.members
  }

  async switchOver(from: string, to: string): Promise<void> {
    const body = JSON.stringify({ leader: from, candidate: to })
    const signal = AbortSignal.timeout(SWITCHED_WITHIN_MS)
    const answer = await askJson(`http://${this.address}:8008/switchover`, { method: 'POST', body, signal })
    if (answer.status !== 200) throw new Error(`switchover: ${answer.status} ${answer.body}`)
  }

  /** True if this etcd member is up and knows a leader; `isLeader` if it is the leader itself. */
  async etcdStatus(): Promise<{ isLeader: boolean }> {
    const { body } = await askJson(`http://${this.address}:2379/v3/maintenance/status`, {
      method: 'POST',
      body: '{}',
    })
    if (!body.leader || body.leader === '0') throw new Error(`etcd on ${this.name} knows no leader`)
    return { isLeader: body.leader === body.header.member_id }
  }
}

const nameOf = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
