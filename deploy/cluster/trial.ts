/** Runs Jeton on a cluster of three nodes, injects faults under load, and reports losses and the time without service. */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UPGRADE } from './faults.ts'
import { currentBuild, currentCommit, hasCommit, OLD_COMMIT, unpackBuild } from './jeton-build.ts'
import { missingPackages } from './packages.ts'
import { report } from './report.ts'
import { runTrial } from './run-trial.ts'

const INSIDE = 'CLUSTER_TRIAL_FOLDER'
const UNAVAILABLE = 69

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(UNAVAILABLE)
}

/** Namespaces of its own, which end with the trial: no process, address or mount is left behind. */
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
/** The shell is the first process of the namespace and takes care of orphans. */
const SHELL = 'mkdir -p /run/netns && mount -t tmpfs none /run/netns && "$@"; exit $?'

function startInNamespaces(): void {
  if (process.getuid?.() !== 0) refuse('The trial creates network namespaces: run it as root.')
  const missing = missingPackages()
  if (missing.length > 0) refuse(`The trial requires: apt-get install -y ${missing.join(' ')}`)
  if (!hasCommit(OLD_COMMIT))
    refuse(`The trial upgrades from commit ${OLD_COMMIT}, which is not in this clone: git fetch --unshallow`)
  const folder = mkdtempSync(join(tmpdir(), 'jeton-cluster-'))
  chmodSync(folder, 0o755)
  const own = [process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn('unshare', [...NAMESPACES, 'bash', '-c', SHELL, 'bash', ...own], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: folder },
  })
  // Ctrl-C reaches the trial too. This process removes the folder afterwards.
  process.on('SIGINT', () => undefined)
  child.on('exit', (code) => {
    // KEEP_LOGS=<folder> copies the logs and data of the nodes.
    const { KEEP_LOGS } = process.env
    if (KEEP_LOGS && existsSync(folder)) cpSync(folder, KEEP_LOGS, { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    process.exit(code ?? 1)
  })
}

async function runInNamespaces(folder: string): Promise<void> {
  const [only = ''] = process.argv.slice(2)
  const began = performance.now()
  const isUpgraded = UPGRADE.name.includes(only)
  const build = isUpgraded ? unpackBuild(OLD_COMMIT, `${folder}/old`) : currentBuild
  const say = (line: string) =>
    print(`${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s  ${line}`)
  const result = await runTrial({ folder, build, only, say })
  print(`\n${report(result, { current: currentCommit(), from: isUpgraded ? OLD_COMMIT : undefined })}`)
  process.exit(result.losses.length === 0 ? 0 : 1)
}

const folder = process.env[INSIDE]
if (folder === undefined) startInNamespaces()
else await runInNamespaces(folder)
