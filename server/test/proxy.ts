import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.ts'

const START_WITHIN_MS = 60_000

/** Runs a program until the pipe to it is closed: a killed parent cannot clean up. */
export const WATCH = '"$@" & pid=$!; while read -r _; do :; done; kill $pid 2>/dev/null; wait $pid'

export interface RunningProxy {
  readonly url: string
  stop(): Promise<void>
}

/** Where the shipped examples say Jeton, the API and the proxy itself are. */
interface Ports {
  readonly jeton: number
  readonly api: number
}

export type ProxyName = 'nginx' | 'Caddy'

export const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`], { env: environment() }).status === 0

/** On Debian nginx lives where only root's PATH leads. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
})

const shipped = (file: string): string =>
  readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')

/** Each of them must be there: an example that no longer has the port is not the one that is tested. */
function withPorts(text: string, ports: Readonly<Record<string, number>>): string {
  return Object.entries(ports).reduce((changed, [from, to]) => {
    const parts = changed.split(from)
    if (parts.length !== 2) throw new Error(`The example must name ${from.trim()} once.`)
    return parts.join(from.replace(/\d+$/, String(to)))
  }, text)
}

const COMMANDS = {
  nginx: (folder: string) => ['nginx', '-p', folder, '-c', join(folder, 'main.conf')],
  Caddy: (folder: string) => [
    'caddy',
    'run',
    '--adapter',
    'caddyfile',
    '--config',
    join(folder, 'Caddyfile'),
  ],
}

const FILES = {
  nginx(folder: string, port: number, { jeton, api }: Ports) {
    const ports = { '127.0.0.1:8080': jeton, '127.0.0.1:9000': api, 'listen 8000': port }
    writeNginx(folder, withPorts(shipped('nginx.conf'), ports))
  },
  Caddy(folder: string, port: number, { jeton, api }: Ports) {
    const own = shipped('Caddyfile')
    const ports = { '127.0.0.1:8080': jeton, '127.0.0.1:9000': api, '\n:8000': port }
    const apart = '{\n\tadmin off\n\tauto_https off\n}\n'
    writeFileSync(join(folder, 'Caddyfile'), apart + withPorts(own, ports))
  },
}

/** One process of the current user, which writes only to its folder. */
function writeNginx(folder: string, own: string): void {
  writeFileSync(join(folder, 'jeton.conf'), own)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  writeFileSync(
    join(folder, 'main.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr warn; events {}
       http { access_log off; ${places.join(' ')} include ${folder}/jeton.conf; }`,
  )
}

/** The example of `deploy/` as it is shipped, but for the ports. */
export async function startProxy(name: ProxyName, ports: Ports): Promise<RunningProxy> {
  return run(name, (folder, port) => FILES[name](folder, port, ports))
}

/** nginx before the three services, as `deploy/three-services/` has it, but for the ports. */
export async function startBalancer(services: readonly number[]): Promise<RunningProxy> {
  const upstreams = services.map((port, i) => [`127.0.0.1:808${i + 1}`, port] as const)
  return run('nginx', (folder, port) => {
    const ports = { ...Object.fromEntries(upstreams), 'listen 8000': port }
    writeNginx(folder, withPorts(shipped('three-services/nginx.conf'), ports))
  })
}

async function run(
  name: ProxyName,
  writeFiles: (folder: string, port: number) => void,
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-proxy-'))
  mkdirSync(join(folder, 'home'))
  const port = await freePort()
  writeFiles(folder, port)
  const child = spawn('sh', ['-c', WATCH, 'sh', ...COMMANDS[name](folder)], {
    env: { ...environment(), HOME: join(folder, 'home'), XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => (said = (said + chunk).slice(-4_000)))
  await accepting(port, () => said)
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Closes the pipe, and waits. */
export function ended(child: ChildProcess): Promise<unknown> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.stdin!.end()
  return gone
}

/** Waits until the port accepts connections. */
export async function accepting(port: number, said: () => string): Promise<void> {
  const late = Date.now() + START_WITHIN_MS
  while (!(await accepts(port))) {
    if (Date.now() > late) throw new Error(`It did not start: ${said()}`)
    await wait(25)
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined))
    socket.on('error', () => resolve(false))
  })

/** A request that reached the API behind the proxy. */
export interface Received {
  readonly method: string
  readonly url: string
  /** As they came, so that one sent twice is seen twice. */
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface Upstream {
  readonly port: number
  readonly received: Received[]
  readonly connections: () => number
  close(): Promise<void>
}

/** A small API, or whatever else shall stand behind a proxy; it keeps what it receives. */
export async function startUpstream(
  answer: (request: Received, response: ServerResponse) => void = (_, response) =>
    response.end('{"hello":"world"}'),
): Promise<Upstream> {
  const received: Received[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    const { method, url, rawHeaders, headers } = request
    const one = { method: method!, url: url!, rawHeaders, headers, body: await buffer(request) }
    received.push(one)
    answer(one, response)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    received,
    connections: () => connections,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
