import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { jeton, newFolder } from '../../../test/command-line.ts'
import { eachEngine } from '../../../test/engines.ts'
import { OPERATOR, startService } from '../../../test/service.ts'
import type { Finding } from '../../app/checks/finding.ts'
import { systemClock } from '../../platform/clock.ts'
import { saveProfile } from '../profile.ts'

let folder: string
beforeEach(() => (folder = newFolder('check-port')))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function portOf(settings: Record<string, string>): Promise<Finding | undefined> {
  const env = { XDG_CONFIG_HOME: folder, ...settings }
  const { checks } = JSON.parse((await jeton(['doctor', '--local', '--json'], { env })).out) as {
    checks: Finding[]
  }
  return checks.find(({ name }) => name === 'port')
}
const emptyFolder = () => ({ JETON_DATA_DIR: join(folder, 'data') })

test('a port in use by another program is a failure, with the setting for another port', async () => {
  const server = createServer((_, response) => response.writeHead(404).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await portOf({ ...emptyFolder(), JETON_PORT: String(port) })).toMatchObject({
    result: 'failed',
    do: `JETON_PORT=${port + 1}`,
  })
  await new Promise((resolve) => server.close(resolve).closeAllConnections())
})

eachEngine((engine) => {
  test('a Jeton on the port passes only with this store, and is unknown without an operator there', async () => {
    const env = { ...(await engine.settings()), XDG_CONFIG_HOME: folder }
    const service = await startService(env, { clock: systemClock })
    const { port } = new URL(service.url)
    const here = (settings: Record<string, string>) => portOf({ ...settings, JETON_PORT: port })
    expect(await here(env)).toMatchObject({ result: 'unknown', do: `jeton login --url ${service.url}` })
    const credential = { management_id: OPERATOR.id, management_token: OPERATOR.token }
    saveProfile(service.url, credential, { env })
    expect(await here(env)).toEqual({
      name: 'port',
      result: 'ok',
      says: `Jeton is running at 127.0.0.1:${port}, with this store`,
    })
    expect((await here({ ...env, JETON_MANAGEMENT_PORT: '0' }))?.result).toBe('unknown')

    const otherEnv = { ...(await engine.settings()), XDG_CONFIG_HOME: folder }
    const other = await startService(otherEnv, { clock: systemClock })
    expect(await here(otherEnv)).toMatchObject({
      result: 'failed',
      says: `Jeton is running at 127.0.0.1:${port}, with another store`,
    })
    expect((await here(emptyFolder()))?.result).toBe('failed')
    await Promise.all([service.stop(), other.stop()])
  })
})
