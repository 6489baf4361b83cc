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

  test('shows every promise kept, the event sent by the server itself, and leaves nothing behind', async () => {
    const service = await start({ JETON_WEBHOOK_ALLOW: '127.0.0.0/8' })
    const { code, out, err } = await tourOf(service.url)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('14 of 14 as promised')
    expect(out).toMatch(/block the key +✓ token dead after [\d.]+ ms/)
    expect(out).toMatch(/the limit +✓ 5 of 20 at once, exactly +429, Retry-After: \d+\n/)
    expect(out).toMatch(/the event arrives +✓ [\d.]+ ms after the answer +signature fits\n/)
    expect(out).toMatch(/a receiver is down +✓ attempt 1: 500, on record +by itself in 1 min\n/)
    expect(out).toMatch(/jeton explain v-\w{18}: the scope of the token/)
    expect(out).toContain('The event was sent here')
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80)
    expect(out).not.toMatch(SECRET)
    expect(await projectsOf(service)).toBe(0)
    await service.stop()
  })

  test('brings the event here where the server sends to public addresses only, and says so', async () => {
    const service = await start()
    const { code, out } = await tourOf(service.url)
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('14 of 14 as promised') })
    expect(out).toMatch(/a receiver is down +✓ attempt 1 failed, on record/)
    expect(out).toContain('To see it sent: JETON_WEBHOOK_ALLOW=127.0.0.0/8 npm start')
    expect(await projectsOf(service)).toBe(0)
    await service.stop()
  })
})

interface Passing {
  readonly request: IncomingMessage
  readonly body: string
  /** To the service, as it came or changed. */
  pass(changed?: { headers?: Record<string, string>; body?: string }): Promise<Answered>
}

interface Answered {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

/** Stands between the tour and a service that keeps its promises, and lies about one of them. */
async function startLiar(service: { url: string }, lie: (passing: Passing) => Promise<Answered>) {
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString()
    const pass: Passing['pass'] = async (changed = {}) => {
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
    const { status, headers, text } = await lie({ request, body, pass })
    const { 'content-length': _, connection: __, 'transfer-encoding': ___, ...rest } = headers
    response.writeHead(status, rest).end(status === 204 ? undefined : text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close().closeAllConnections() }
}

describe('a promise that is not kept', () => {
  const home = makeHome()
  let service: TestService
  const liars: { close(): void }[] = []
  beforeAll(async () => {
    const settings = { JETON_DATA_DIR: home.folder, JETON_WEBHOOK_ALLOW: '127.0.0.0/8' }
    service = await startService(settings, { clock: systemClock })
  })
  afterEach(() => {
    for (const liar of liars.splice(0)) liar.close()
  })
  afterAll(async () => {
    await service.stop()
    home.remove()
  })

  const liar = async (lie: (passing: Passing) => Promise<Answered>) => {
    const made = await startLiar(service, lie)
    liars.push(made)
    return made.url
  }

  const isTo = ({ url = '' }: IncomingMessage, path: RegExp) => path.test(url)
  const redemption = /\/redemption$/

  test.each<[string, string, (passing: Passing) => Promise<Answered>]>([
    [
      'a redemption that fails',
      'redeem a mug         ✗ answered 500 internal_error',
      async ({ request, pass }) =>
        isTo(request, redemption)
          ? { status: 500, headers: {}, text: '{"code":500,"key":"internal_error"}' }
          : pass(),
    ],
    [
      'a retry that redeems twice',
      'same request again   ✗ the answer is another one',
      ({ request, pass }) =>
        pass(isTo(request, redemption) ? { headers: { 'idempotency-key': crypto.randomUUID() } } : {}),
    ],
    [
      'a limit that does not hold',
      'the limit            ✗ 20 of 20 were issued, and 5 may be',
      ({ body, pass }) => pass({ body: body.replace('"token_limit":5', '"token_limit":500') }),
    ],
    [
      'a whitelist that protects nothing',
      'wrong address        ✗ answered 200',
      ({ body, pass }) => pass({ body: body.replace('"192.0.2.0/24"', '"0.0.0.0/0"') }),
    ],
    [
      'a secret of someone else',
      'the event arrives    ✗ the signature does not fit: wrong_secret',
      async ({ request, pass }) => {
        const answer = await pass()
        const text = answer.text.replace(/whsec_\w+/, `whsec_${'abcd'.repeat(11)}`)
        return isTo(request, /\/webhooks$/) ? { ...answer, text } : answer
      },
    ],
  ])('%s is reported where it belongs, and the project is deleted all the same', async (_, line, lie) => {
    const { code, out } = await tourOf(await liar(lie))
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(line) })
    expect(out).toMatch(/^ {2}\d+ of 14 as promised, in [\d.]+ s\. The project is deleted\.$/m)
    expect(out).not.toContain('14 of 14')
    expect(await projectsOf(service)).toBe(0)
  })

  test('a token that outlives the block of its key', async () => {
    let alive: Answered | undefined
    const url = await liar(async ({ request, pass }) => {
      if (!isTo(request, /introspect$/)) return pass()
      alive ??= await pass()
      return alive
    })
    const { code, out } = await tourOf(url)
    expect(code).toBe(1)
    expect(out).toMatch(/block the key +✗ after \d+ ms it is still vouched for\n/)
    expect(out).toMatch(/the limit +✓/)
    expect(await projectsOf(service)).toBe(0)
  })

  test('a server that goes away in the middle: what is left is not tried, and how to tidy up is said', async () => {
    const url = await liar(async ({ request, pass }) => {
      if (isTo(request, /\/block$/)) liars[0]!.close()
      return pass()
    })
    const { code, out, err } = await tourOf(url)
    expect(code).toBe(1)
    expect(out).toMatch(/ 7 {2}block the key +✗ Cannot reach http:/)
    expect(out).toContain('6 of 14 as promised, 7 not tried')
    const [, name] = /Later: jeton project delete '(Tour [^']+)'\n$/.exec(err)!
    expect((await jeton(['project', 'delete', name!, '--yes'], { env: envOf(service.url) })).code).toBe(0)
    expect(await projectsOf(service)).toBe(0)
  })

  /** A server that does not answer to the block until it is let. */
  async function hesitating() {
    const { promise, resolve } = Promise.withResolvers<void>()
    const url = await liar(async ({ request, pass }) => {
      if (isTo(request, /\/block$/)) await promise
      return pass()
    })
    return { url, goOn: resolve }
  }

  test('Ctrl-C ends it early, and the project is deleted', async () => {
    const { url } = await hesitating()
    const command = startJeton(['tour'], { env: { ...envOf(url), NO_COLOR: '1' }, isTTY: true })
    await command.printed(/block the key/)
    const { code, out } = await command.stop()
    expect(code).toBe(1)
    expect(out).toMatch(/block the key +✗ stopped\n/)
    expect(out).toContain('6 of 14 as promised, 8 not tried')
    expect(await projectsOf(service)).toBe(0)
  })

  test('Ctrl-C in a process of its own as well, also where it comes twice at once, as through npm', async () => {
    const { url } = await hesitating()
    const run = runBinary({ home: home.folder, args: ['tour', '--verbose'], env: envOf(url) })
    await run.printed(/block the key/)
    run.child.kill('SIGINT')
    run.child.kill('SIGINT')
    expect(await run.ended).toBe(1)
    expect(await projectsOf(service)).toBe(0)
  })

  test('whoever stops reading ends it, and the project is deleted', async () => {
    const { url, goOn } = await hesitating()
    const run = runBinary({ home: home.folder, args: ['tour', '--verbose'], env: envOf(url) })
    await run.printed(/block the key/)
    run.child.stdout!.destroy()
    goOn()
    expect(await run.ended).toBe(1)
    expect(await projectsOf(service)).toBe(0)
  })
})

describe('with a server as people start it', () => {
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

  test('the binary shows it with nothing configured, and the sample is as it was', async () => {
    expect(server.stdout()).toContain('npx jeton tour')
    const run = typed('tour', '--json')
    expect(await run.ended).toBe(0)
    const told = JSON.parse(run.stdout())
    expect(told).toMatchObject({
      as_promised: 14,
      of: 14,
      project_deleted: true,
      events: 'sent',
      url: server.url,
    })
    expect(told.steps[0]).toMatchObject({ name: 'token', as_promised: true, requests: [{}, { status: 200 }] })
    expect(run.stdout()).not.toMatch(SECRET)
    expect(await projects()).toBe(1)
  })

  test('--verbose prints what each step proves and every request as it can be typed, and no secret', async () => {
    const run = typed('tour', '--verbose')
    expect(await run.ended).toBe(0)
    const said = run.stdout()
    expect(said.match(/By hand: /g)).toHaveLength(14)
    expect(said).toContain(`curl -s '${server.url}/v1/oauth/token' \\\n       -H "X-App-Id: $APP_ID"`)
    expect(said).toContain('-H "Authorization: Bearer $TOKEN"')
    expect(said).toContain(`-H 'Idempotency-Key: first-mug'`)
    expect(said).toContain('"access_token":"jtn_•••"')
    expect(said).not.toMatch(SECRET)
  })
})

test('without a server it ends as every command does', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  expect((await tourOf(url)).code).toBe(69)
})
