import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, newFolder } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

eachEngine((engine) => {
  let service: TestService
  let project: { id: string }
  beforeAll(async () => {
    service = await startService(await engine.settings(), { clock: systemClock })
    project = await service.project('Club')
  })
  afterAll(() => service.stop())

  const status = (flags: readonly string[] = [], isTTY = true, url = service.url) =>
    jeton(['status', ...flags], {
      isTTY,
      env: {
        JETON_URL: url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        XDG_CONFIG_HOME: newFolder('status'),
        NO_COLOR: '1',
      },
    })

  test('status says that nothing needs attention, and fits on one screen', async () => {
    const { code, out } = await status()
    expect([code, out]).toEqual([0, expect.stringContaining('✓ Nothing needs attention.')])
    expect(out.split('\n').length).toBeLessThanOrEqual(24)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  test('status shows the traffic of the last hour as a chart in a terminal, and as numbers elsewhere', async () => {
    const key = await service.key(project.id)
    for (let i = 0; i < 3; i++) expect((await service.issue(key, 'api')).status).toBe(200)
    expect((await status()).out).toMatch(/tokens issued +·*█·? +3\n/)
    expect((await status([], false)).out).toMatch(/tokens issued +3\n/)
    expect(JSON.parse((await status(['--json'])).out).last_hour.tokens_issued).toBe(3)
  })

  test('status fits on one screen with many problems, and says how many it leaves out', async () => {
    const own = await startService(await engine.settings(), { clock: systemClock })
    for (let i = 0; i < 9; i++) {
      const { id } = await own.project(`Project ${i}`)
      const key = await own.key(id)
      await own.manage('POST', `${key.path}/block`)
      for (let n = 0; n < 50; n++) await own.issue(key, 'api')
    }
    const { out, code } = await status([], true, own.url)
    await own.stop()
    const rows = out
      .trimEnd()
      .split('\n')
      .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 80)), 0)
    expect(rows).toBeLessThanOrEqual(23)
    const left = Number(/… and (\d+) more: jeton attention list/.exec(out)?.[1])
    expect([code, left + (out.match(/→ jeton refusal list/g)?.length ?? 0)]).toEqual([1, 9])
    expect(out).toMatch(/refused +·*[▁-█]+·* +450\n/)
  })

  test('status ends with exit code 1 and names the fix when something needs attention', async () => {
    const key = await service.key(project.id, { name: 'blocked' })
    await service.manage('POST', `${key.path}/block`)
    for (let i = 0; i < 50; i++) await service.issue(key, 'api')
    const { code, out } = await status()
    expect([code, out]).toEqual([1, expect.stringContaining('! 50 requests were refused')])
    expect(out).toContain(`→ jeton refusal list --project ${project.id}`)
  })
})
