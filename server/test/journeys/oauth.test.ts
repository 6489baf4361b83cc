import { expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

eachEngine((engine) => {
  test('a key pair gets a token with exactly the six fields, and introspection repeats them with active', async () => {
    const service = await startService(await engine.settings(), { clock: new TestClock(Date.now()) })
    const project = await service.project('Club')
    const key = await service.key(project.id)
    const issued = await service.issue(key, 'vouchers rewards vouchers')
    expect(issued.status).toBe(200)
    expect(Object.keys(issued.body).sort()).toEqual(['access_token', 'client_id', 'expires_at', 'expires_in', 'scope', 'token_type'])
    expect(issued.body).toMatchObject({ client_id: key.client_id, expires_in: 900, scope: 'vouchers rewards', token_type: 'Bearer' })
    const asked = await service.introspect(key, issued.body.access_token)
    expect(asked.body).toEqual({ ...issued.body, active: true, expires_in: expect.any(Number) })
    await service.stop()
  })
})
