import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const compress = promisify(gzip)

/** Next to the program in a package, in its own workspace in a checkout. */
const FOLDERS = ['../../../console/', '../../../../console/dist/'].map(
  (path) => new URL(path, import.meta.url),
)

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
}

export interface BuiltFile {
  readonly type: string
  readonly plain: Buffer
  readonly gzipped: Buffer
}

export interface BuiltConsole {
  /** The page, with `%NONCE%` where the nonce of a response belongs. */
  readonly page: string
  /** Files by their name in the folder `assets`. Nothing else is ever served. */
  readonly assets: ReadonlyMap<string, BuiltFile>
}

async function readAsset(folder: URL, name: string): Promise<BuiltFile | undefined> {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
  if (type === undefined) return undefined
  const plain = await readFile(new URL(`assets/${name}`, folder))
  return { type, plain, gzipped: await compress(plain) }
}

async function readFolder(folder: URL): Promise<BuiltConsole> {
  const page = await readFile(new URL('index.html', folder), 'utf8')
  const assets = new Map<string, BuiltFile>()
  for (const name of await readdir(new URL('assets/', folder))) {
    const asset = await readAsset(folder, name)
    if (asset) assets.set(name, asset)
  }
  return { page, assets }
}

/** Reads the build into memory, so that no request ever names a file on disk. Undefined if there is no build. */
export async function readBuiltConsole(folders: readonly URL[] = FOLDERS): Promise<BuiltConsole | undefined> {
  for (const folder of folders)
    try {
      return await readFolder(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  return undefined
}
