import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'

/** Where the clients, the load balancer and the receiver of webhooks are. */
export const CLIENT_ADDRESS = '10.20.0.1'
const BRIDGE = 'cluster'

const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' })

/** Creates the switch that connects the nodes. The caller runs in a network namespace of its own. */
export function createNetwork(): void {
  ip('link', 'set', 'lo', 'up')
  ip('link', 'add', BRIDGE, 'type', 'bridge')
  ip('address', 'add', `${CLIENT_ADDRESS}/24`, 'dev', BRIDGE)
  ip('link', 'set', BRIDGE, 'up')
}

/** Creates a network namespace with a cable to the switch. */
export function connectNode(name: string, address: string): void {
  ip('netns', 'add', name)
  ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0')
  ip('-n', name, 'link', 'set', 'lo', 'up')
  ip('-n', name, 'link', 'set', 'eth0', 'up')
  ip('link', 'set', name, 'master', BRIDGE, 'up')
}

/** Unplugs the cable: packets are dropped in silence, as if the machine had lost its power. */
export const cutOff = (name: string): void => void ip('link', 'set', name, 'nomaster')

export const reconnect = (name: string): void => void ip('link', 'set', name, 'master', BRIDGE)

/** Command line that runs a program on a node. */
export const onNode = (name: string, command: readonly string[]): string[] => [
  'ip',
  'netns',
  'exec',
  name,
  ...command,
]

/** Runs a program on a node and returns its output. Works while the node is cut off. */
export async function runOnNode(name: string, command: readonly string[]): Promise<string> {
  const [program, ...args] = onNode(name, command)
  return (await promisify(execFile)(program!, args, { encoding: 'utf8' })).stdout
}

/** Process ids on a node. */
export const processesOf = (name: string): number[] =>
  ip('netns', 'pids', name).split('\n').filter(Boolean).map(Number)
