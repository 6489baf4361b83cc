import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Container, run } from './debian-root.ts'
import { contextFilter, type Instruction, readInstructions, readVariables } from './dockerfile.ts'

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url))
const DOCKERFILE = join(CHECKOUT, 'deploy/Dockerfile')
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** A container that is started from the image, as the Dockerfile describes it. */
export interface Image {
  readonly container: Container
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthCheck: readonly string[]
  readonly volume: string
}

interface Build {
  readonly work: string
  readonly context: string
  readonly base: string
  readonly say: (line: string) => void
  readonly stages: Map<string, Container>
  readonly described: Record<string, string>
}

/** Copies what a container engine would send to the build. */
function copyContext(to: string): void {
  const isIncluded = contextFilter(readFileSync(`${DOCKERFILE}.dockerignore`, 'utf8'))
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: CHECKOUT, encoding: 'utf8' }).split('\0')
  for (const path of tracked.filter((one) => one !== '' && isIncluded(one)))
    cpSync(join(CHECKOUT, path), join(to, path))
}

function beginStage({ work, base, stages }: Build, text: string): Container {
  const [, image, name] = /^(\S+)(?: AS (\S+))?$/.exec(text)!
  if (image !== 'node:24-slim') throw new Error(`There is no ${image} here`)
  const root = join(work, `stage-${stages.size}`)
  execFileSync('cp', ['--archive', '--reflink=auto', base, root])
  execFileSync('mount', ['--types', 'proc', 'proc', join(root, 'proc')])
  const stage: Container = { root, folder: '/', user: '0:0', env: { PATH, HOME: '/root' } }
  stages.set(name ?? 'last', stage)
  return stage
}

function copy({ context, stages }: Build, stage: Container, text: string): void {
  const words = text.split(/\s+/)
  const [, from] = /^--from=(.*)$/.exec(words[0]!) ?? []
  const [to, ...sources] = words.slice(from ? 1 : 0).reverse()
  const target = join(stage.root, posix.resolve(stage.folder, to!))
  for (const source of sources) {
    const path = join(from ? stages.get(from)!.root : context, source)
    const isFile = statSync(path).isFile()
    const copied = isFile && /(^|\/)\.?$/.test(to!) ? join(target, basename(source)) : target
    cpSync(path, copied, { recursive: true, verbatimSymlinks: true })
  }
}

const HANDLED = new Set(['VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'])

async function execute(build: Build, stage: Container, { name, text }: Instruction): Promise<void> {
  if (name === 'WORKDIR') {
    stage.folder = posix.resolve(stage.folder, text)
    mkdirSync(join(stage.root, stage.folder), { recursive: true })
  } else if (name === 'COPY') copy(build, stage, text)
  else if (name === 'ENV') Object.assign(stage.env, readVariables(text))
  else if (name === 'USER') stage.user = text
  else if (HANDLED.has(name)) build.described[name] = text
  else if (name !== 'RUN') throw new Error(`${name} is not known here`)
  else if ((await run(stage, ['/bin/sh', '-c', text])) !== 0) throw new Error(`failed: RUN ${text}`)
}

const wordsIn = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')))

/** Executes every instruction of the Dockerfile in its order. The last stage is the image. */
export async function buildImage(options: Pick<Build, 'work' | 'base' | 'say'>): Promise<Image> {
  const build: Build = {
    ...options,
    context: join(options.work, 'context'),
    stages: new Map(),
    described: {},
  }
  copyContext(build.context)
  let stage: Container | undefined
  for (const instruction of readInstructions(readFileSync(DOCKERFILE, 'utf8'))) {
    build.say(`${instruction.name} ${instruction.text}`)
    if (instruction.name === 'FROM') stage = beginStage(build, instruction.text)
    else await execute(build, stage!, instruction)
  }
  const { HEALTHCHECK, ENTRYPOINT, CMD, VOLUME } = build.described
  return {
    container: stage!,
    entrypoint: wordsIn(ENTRYPOINT!),
    command: wordsIn(CMD!),
    healthCheck: wordsIn(HEALTHCHECK!),
    volume: VOLUME!,
  }
}

/** Ids and modes of a folder inside, as `docker inspect` would show them. */
export const ownerOf = (path: string): string => {
  const { uid, gid, mode } = statSync(path)
  return `${uid}:${gid} ${(mode & 0o777).toString(8)}`
}
