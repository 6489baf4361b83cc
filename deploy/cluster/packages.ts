import { execFileSync, spawnSync } from 'node:child_process'
import { isInstalled } from '../../server/test/proxy.ts'

/** A program of each package. */
const PROGRAMS = {
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  patroni: 'patroni',
  'etcd-server': 'etcd',
  'nginx-light': 'nginx',
  iproute2: 'ip',
}

export const missingPackages = (): string[] =>
  Object.entries(PROGRAMS).flatMap(([name, program]) => (isInstalled(program) ? [] : [name]))

// biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of dpkg-query
const FORMAT = '${Package} ${Version}'

/** `patroni 3.0.2-1`, as Debian numbers it. */
export function packageVersions(): string[] {
  const names = ['postgresql-15', 'patroni', 'etcd-server', 'nginx']
  return names.map((name) => {
    const { status, stdout } = spawnSync('dpkg-query', ['-W', '-f', FORMAT, name], {
      encoding: 'utf8',
    })
    return status === 0 ? stdout : name
  })
}

export const debianVersion = (): string =>
  execFileSync('sh', ['-c', '. /etc/os-release; echo "$PRETTY_NAME"'], { encoding: 'utf8' }).trim()
