import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Daemon } from './daemon.ts'

const SHIPPED = new URL('../three-services/nginx.conf', import.meta.url)

/** The shipped file with the addresses of the nodes. */
const configFor = (addresses: readonly string[]): string =>
  addresses.reduce(
    (text, address, i) => text.replace(`127.0.0.1:808${i + 1}`, `${address}:8080`),
    readFileSync(SHIPPED, 'utf8'),
  )

/** nginx with the shipped file, as one process that writes only to its folder. */
export function createNginx(node: string, folder: string, addresses: readonly string[]): Daemon {
  const own = `${folder}/nginx`
  mkdirSync(own)
  writeFileSync(`${own}/jeton.conf`, configFor(addresses))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${own}/${name};`,
  )
  writeFileSync(
    `${own}/main.conf`,
    `daemon off; master_process off; pid ${own}/pid; error_log stderr warn; events {}
     http { access_log off; ${temporary.join(' ')} include ${own}/jeton.conf; }`,
  )
  const command = ['nginx', '-p', own, '-c', `${own}/main.conf`]
  const env = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
  return new Daemon({ node, name: 'nginx', command, env, logFolder: folder })
}
