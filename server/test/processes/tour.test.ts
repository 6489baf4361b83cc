import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { makeHome, runBinary, serveBinary } from '../binary.ts'
import { jeton, startJeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { freePort } from '../free-port.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
const SECRET = /jt[amn]_\w|whsec_\w/

const envOf = (url: string) => ({
  XDG_CONFIG_HOME: '/nonexistent',
  JETON_URL: url,
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
})
const tourOf = (url: string, ...flags: string[]) => jeton(['tour', ...flags], { env: envOf(url) })
const projectsOf = async ({ manage }: TestService): Promise<number> =>
  (await manage('GET', '/projects')).body.total

eachEngine((engine) => {
  const start = async (more: Record<string, string> = {}) =>
    startService(
      { ...(await engine.settings()), JETON_ENCRYPTION_KEY: ENCRYPTION_KEY, ...more },
      { clock: systemClock },
    )

  test('every guarantee holds, the server itself sends the event, and no project is left', async () => {
    const service = await start({ JETON_WEBHOOK_ALLOW: '127.0.0.0/8' })
    const { code, out, err } = await tourOf(service.url)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('14 of 14 checks passed')
    expect(out).toMatch(/block the key +✓ inactive after [\d.]+ ms/)
    expect(out).toMatch(/token limit +✓ exactly 5 of 20 concurrent +429, Retry-After: \d+\n/)
    expect(out).toMatch(/receive the event +✓ [\d.]+ ms after the response +signature matches\n/)
    expect(out).toMatch(/receiver is down +✓ attempt 1: 500, recorded +next in 1 min\n/)
    expect(out).toMatch(/jeton explain v-\w{18}: the scope of the token/)
    expect(out).toContain('The server sent the event')
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80)
    expect(out).not.toMatch(SECRET)
    expect(await projectsOf(service)).toBe(0)
    await service.stop()
  })

  test('a server that sends only to public addresses has its event forwarded, and the tour says so', async () => {
    const service = await start()
    const { code, out } = await tourOf(service.url)
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('14 of 14 checks passed') })
    expect(out).toMatch(/receiver is down +✓ attempt 1 failed, recorded/)
    expect(out).toContain('To have the server send it: JETON_WEBHOOK_ALLOW=127.0.0.0/8 npm start')
    expect(await projectsOf(service)).toBe(0)
    await service.stop()
  })
})

interface Proxied {
  readonly request: IncomingMessage
  readonly body: string
  /** Forwards to the service, unchanged or changed. */
  pass(changed?: { headers?: Record<string, string>; body?: string }): Promise<Answered>
}

interface Answered {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

/** A proxy between the tour and the service that breaks one guarantee. */
async function startFaultyProxy(service: { url: string }, handle: (proxied: Proxied) => Promise<Answered>) {
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString()
    const pass: Proxied['pass'] = async (changed = {}) => {
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
      const sent = (changed.body ?? body) || undefined
      const answer = await fetch(service.url + request.url, {
        method: request.method!,
        headers: { ...(headers as Record<string, string>), ...changed.headers },
        ...(sent && { body: sent }),
      })
      const text = await answer.text()
      return { status: answer.status, headers: Object.fromEntries(answer.headers), text }
    }
    const { status, headers, text } = await handle({ request, body, pass })
    const { 'content-length': _, connection: __, 'transfer-encoding': ___, ...rest } = headers
    response.writeHead(status, rest).end(status === 204 ? undefined : text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close().closeAllConnections() }
}

describe('a broken guarantee', () => {
  const home = makeHome()
  let service: TestService
  const proxies: { close(): void }[] = []
  beforeAll(async () => {
    const settings = { JETON_DATA_DIR: home.folder, JETON_WEBHOOK_ALLOW: '127.0.0.0/8' }
    service = await startService(settings, { clock: systemClock })
  })
  afterEach(() => {
    for (const proxy of proxies.splice(0)) proxy.close()
  })
  afterAll(async () => {
    await service.stop()
    home.remove()
  })

  const proxyTo = async (handle: (proxied: Proxied) => Promise<Answered>) => {
    const proxy = await startFaultyProxy(service, handle)
    proxies.push(proxy)
    return proxy.url
  }

  const isTo = ({ url = '' }: IncomingMessage, path: RegExp) => path.test(url)
  const redemption = /\/redemption$/

  test.each<[string, string, (proxied: Proxied) => Promise<Answered>]>([
    [
      'a redemption that fails',
      'redeem a mug         ✗ returned 500 internal_error',
      async ({ request, pass }) =>
        isTo(request, redemption)
          ? { status: 500, headers: {}, text: '{"code":500,"key":"internal_error"}' }
          : pass(),
    ],
    [
      'a retry that redeems twice',
      'repeat the request   ✗ the response differs',
      ({ request, pass }) =>
        pass(isTo(request, redemption) ? { headers: { 'idempotency-key': crypto.randomUUID() } } : {}),
    ],
    [
      'a limit that does not hold',
      'token limit          ✗ 20 of 20 were issued, the limit is 5',
      ({ body, pass }) => pass({ body: body.replace('"token_limit":5', '"token_limit":500') }),
    ],
    [
      'an allowlist that does not protect',
      'wrong address        ✗ returned 200',
      ({ body, pass }) => pass({ body: body.replace('"192.0.2.0/24"', '"0.0.0.0/0"') }),
    ],
    [
      'a signature with another secret',
      'receive the event    ✗ the signature does not match: wrong_secret',
      async ({ request, pass }) => {
        const answer = await pass()
        const text = answer.text.replace(/whsec_\w+/, `whsec_${'abcd'.repeat(11)}`)
        return isTo(request, /\/webhooks$/) ? { ...answer, text } : answer
      },
    ],
  ])('%s is reported at its step, and the project is still deleted', async (_, line, handle) => {
    const { code, out } = await tourOf(await proxyTo(handle))
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(line) })
    expect(out).toMatch(/^ {2}\d+ of 14 checks passed \([\d.]+ s\)\. The project is deleted\.$/m)
    expect(out).not.toContain('14 of 14')
    expect(await projectsOf(service)).toBe(0)
  })

  test('a token that stays active after its key is blocked is reported', async () => {
    let active: Answered | undefined
    const url = await proxyTo(async ({ request, pass }) => {
      if (!isTo(request, /introspect$/)) return pass()
      active ??= await pass()
      return active
    })
    const { code, out } = await tourOf(url)
    expect(code).toBe(1)
    expect(out).toMatch(/block the key +✗ the token is still active after \d+ ms\n/)
    expect(out).toMatch(/token limit +✓/)
    expect(await projectsOf(service)).toBe(0)
  })

  test('a server that stops half-way ends the tour, which says how to delete the project', async () => {
    const url = await proxyTo(async ({ request, pass }) => {
      if (isTo(request, /\/block$/)) proxies[0]!.close()
      return pass()
    })
    const { code, out, err } = await tourOf(url)
    expect(code).toBe(1)
    expect(out).toMatch(/ 7 {2}block the key +✗ Cannot reach http:/)
    expect(out).toContain('6 of 14 checks passed, 7 not run')
    const [, name] = /Delete it later: jeton project delete '(Tour [^']+)'\n$/.exec(err)!
    expect((await jeton(['project', 'delete', name!, '--yes'], { env: envOf(service.url) })).code).toBe(0)
    expect(await projectsOf(service)).toBe(0)
  })

  /** A server that delays the response to the block until `release` is called. */
  async function delayed() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const url = await proxyTo(async ({ request, pass }) => {
      if (isTo(request, /\/block$/)) await promise
      return pass()
    })
    return { url, release: resolve }
  }

  test('Ctrl-C ends the tour early, and its project is deleted', async () => {
    const { url } = await delayed()
    const command = startJeton(['tour'], { env: { ...envOf(url), NO_COLOR: '1' }, isTTY: true })
    await command.printed(/block the key/)
    const { code, out } = await command.stop()
    expect(code).toBe(1)
    expect(out).toMatch(/block the key +✗ stopped\n/)
    expect(out).toContain('6 of 14 checks passed, 8 not run')
    expect(await projectsOf(service)).toBe(0)
  })

  test('Ctrl-C that arrives twice, as through npm, ends the tour, and its project is deleted', async () => {
    const { url } = await delayed()
    const run = runBinary({ home: home.folder, args: ['tour', '--verbose'], env: envOf(url) })
    await run.printed(/block the key/)
    run.child.kill('SIGINT')
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(1)
    expect(await projectsOf(service)).toBe(0)
  })

  test('a closed pipe ends the tour, and its project is deleted', async () => {
    const { url, release } = await delayed()
    const run = runBinary({ home: home.folder, args: ['tour', '--verbose'], env: envOf(url) })
    await run.printed(/block the key/)
    run.child.stdout!.destroy()
    release()
    expect(await run.ended).toBe(1)
    expect(await projectsOf(service)).toBe(0)
  })
})

describe('with a first start', () => {
  const home = makeHome()
  let server: Awaited<ReturnType<typeof serveBinary>>
  beforeAll(async () => {
    server = await serveBinary({ home: home.folder, env: { JETON_WEBHOOK_ALLOW: '127.0.0.0/8' } })
    await server.printed(/Ctrl-C/)
  })
  afterAll(async () => {
    await server.stop()
    home.remove()
  })
  const typed = (...args: string[]) => runBinary({ home: home.folder, args, env: {} })
  const projects = async () => {
    const list = typed('project', 'list', '--quiet')
    await list.ended
    return list.stdout().trim().split('\n').length
  }

  test('the tour needs no configuration and does not change the sample', async () => {
    expect(server.stdout()).toContain('jeton tour')
    const run = typed('tour', '--json')
    expect(await run.ended).toBe(0)
    const output = JSON.parse(run.stdout())
    expect(output).toMatchObject({
      passed: 14,
      total: 14,
      project_deleted: true,
      events: 'sent',
      url: server.url,
    })
    expect(output.steps[0]).toMatchObject({
      name: 'issue a token',
      passed: true,
      requests: [{}, { status: 200 }],
    })
    expect(run.stdout()).not.toMatch(SECRET)
    expect(await projects()).toBe(1)
  })

  test('tour --verbose prints the proof of each step and every request as curl, and no secret', async () => {
    const run = typed('tour', '--verbose')
    expect(await run.ended).toBe(0)
    const printed = run.stdout()
    expect(printed.match(/By hand: /g)).toHaveLength(14)
    expect(printed).toContain(`curl -s '${server.url}/v1/oauth/token' \\\n       -H "X-App-Id: $APP_ID"`)
    expect(printed).toContain('-H "Authorization: Bearer $TOKEN"')
    expect(printed).toContain(`-H 'Idempotency-Key: first-mug'`)
    expect(printed).toContain('"access_token":"jtn_•••"')
    expect(printed).not.toMatch(SECRET)
  })
})

test('the tour without a server fails like every command', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  expect((await tourOf(url)).code).toBe(69)
})
