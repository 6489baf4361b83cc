import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A runtime that the SDK supports, as npm brings it. */
export interface Runtime {
  readonly name: string
  readonly package: string
  /** The program inside the package. */
  readonly program: string
  readonly args: readonly string[]
  /** Whether the examples run on it too: they use servers of Node. */
  readonly runsExamples: boolean
}

const arch = process.arch
const bunArch = arch === 'arm64' ? 'aarch64' : arch

const node = (major: number): Runtime => ({
  name: `Node ${major}`,
  package: `node-linux-${arch}@${major}`,
  program: 'bin/node',
  args: [],
  runsExamples: true,
})

export const RUNTIMES: readonly Runtime[] = [
  node(20),
  node(22),
  node(24),
  { name: 'Bun', package: `@oven/bun-linux-${bunArch}`, program: 'bin/bun', args: [], runsExamples: false },
  {
    name: 'Deno',
    package: `@deno/linux-${arch}-glibc`,
    program: 'deno',
    args: ['run', '--allow-all', '--node-modules-dir=manual', '--no-lock'],
    runsExamples: false,
  },
]

/** Downloads the runtime. Returns the path of its program, or the reason why there is none. */
export function installRuntime(folder: string, runtime: Runtime): { program: string } | { reason: string } {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  try {
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--force', runtime.package]
    execFileSync('npm', args, { cwd: folder, stdio: 'pipe' })
  } catch (error) {
    return { reason: String((error as { stderr?: Buffer }).stderr ?? error).slice(0, 300) }
  }
  const name = runtime.package.replace(/(?<=.)@[\d.]+$/, '')
  const program = join(folder, 'node_modules', name, runtime.program)
  return existsSync(program) ? { program } : { reason: `${runtime.package} has no ${runtime.program}` }
}
