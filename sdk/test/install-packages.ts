import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { addServer, FRAMEWORKS, install, link, pack } from './packages.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** An empty project with nothing but the packed SDK, as npm installs it. */
    sdkAlone: string
    /** A project with the packed SDK, the packed server and the frameworks of the examples. */
    sdkProject: string
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-sdk-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  // Also if the run ends before vitest calls the function that is returned.
  process.once('exit', remove)
  const sdk = pack('sdk', folder)
  const [alone, whole] = [join(folder, 'alone'), join(folder, 'project')]
  install(alone, sdk)
  install(whole, sdk)
  addServer(whole, pack('server', folder))
  for (const name of FRAMEWORKS) link(whole, name)
  project.provide('sdkAlone', alone)
  project.provide('sdkProject', whole)
  return remove
}
