import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, newFolder, type Surroundings } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { signIn } from '../operators.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

eachEngine((engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService(await engine.settings(), { clock: systemClock, worker: false })
  })
  afterAll(() => service.stop())

  const opened: string[] = []
  const typed = (flags: readonly string[], surroundings: Partial<Surroundings> = {}) =>
    jeton(['console', ...flags], {
      env: {
        JETON_URL: service.url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        XDG_CONFIG_HOME: newFolder('console'),
      },
      openBrowser: async (url) => opened.push(url) > 0,
      ...surroundings,
    })

  test('jeton console prints a link that signs in once, and opens it in a terminal', async () => {
    const { code, out, err } = await typed([], { isTTY: true })
    expect({ code, out, err }).toEqual({
      code: 0,
      out: expect.stringMatching(new RegExp(`^${service.url}/console/#code=jtl_[\\w-]+\n$`)),
      err: expect.stringMatching(/^Opened in the browser\. It signs in once, within (59|60) s\.\n$/),
    })
    expect(opened.splice(0)).toEqual([out.trim()])
    const login = { code: out.trim().split('#code=')[1] }
    expect((await signIn(service.url, login)).status).toBe(201)
    expect((await signIn(service.url, login)).status).toBe(401)
  })

  test('jeton console only prints the link with --print, without a terminal or without a browser', async () => {
    const asks = [
      await typed(['--print'], { isTTY: true }),
      await typed([]),
      await typed([], { isTTY: true, openBrowser: async () => false }),
    ]
    for (const { code, out, err } of asks)
      expect([code, out, err]).toEqual([
        0,
        expect.stringContaining('/console/#code=jtl_'),
        expect.stringContaining('Open this link in a browser.'),
      ])
    expect(opened).toEqual([])
  })
})
