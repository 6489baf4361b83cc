import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasRole, ROLES, type Role } from '../../src/contract/roles.ts'
import { ensureConfiguredOperator } from '../../src/features/operators/index.ts'
import { eachEngine } from '../engines.ts'
import { byPair, bySession, type Credential, type Manage, newOperator, withoutRequest } from '../operators.ts'
import { type Answer, OPERATOR, send } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

interface Operation {
  readonly operationId: string
  readonly 'x-role'?: Role
  readonly 'x-projects'?: 'all' | 'any'
}

interface Route {
  readonly method: string
  readonly path: string
  readonly id: string
  readonly role: Role | undefined
  readonly projects: string | undefined
}

async function managementRoutes(url: string): Promise<Route[]> {
  const { body } = await send(`${url}/openapi.json`)
  const paths = Object.entries(body.paths as Record<string, Record<string, Operation>>)
  return paths
    .filter(([path]) => path.startsWith('/management/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.replace('/management/v1', ''),
        id: operation.operationId,
        role: operation['x-role'],
        projects: operation['x-projects'],
      })),
    )
}

/** They change nothing, although they are POST. */
const CHECKS = ['access.check', 'token.check']
/** They affect only the operator itself. */
const OWN = ['session.end', 'session.end-current', 'login-code.create']
const FOR_ADMINS = /^operator\.|^project\.(create|update|delete)$|^(setting|check)\./

/** The role that a route must have, by what it does. */
function roleFor({ id, method }: Route): Role {
  if (FOR_ADMINS.test(id)) return 'admin'
  return method === 'GET' || [...CHECKS, ...OWN].includes(id) ? 'viewer' : 'editor'
}

const filled = ({ path }: Route, projectId: string): string =>
  path.replace('{project_id}', projectId).replace(/\{\w+\}/g, 'none')

/** An empty body changes nothing: a route that requires one refuses it after the role was checked. */
const call = (manage: Manage, route: Route, projectId: string): Promise<Answer> =>
  manage(route.method, filled(route, projectId), route.method === 'GET' ? undefined : {})

function verdictOf({ status, body }: Answer): string {
  if (status === 404 && body.resource_type === 'project') return 'no such project'
  if (status === 401 || status === 403) return body.key
  return status < 500 ? 'passes' : `${status}`
}

const SIGN_IN = 'session.create'
const CREDENTIALS = ['a header pair', 'a session'] as const
type By = (typeof CREDENTIALS)[number]

function expected(route: Route, { role, by }: { role: Role; by: By }): string {
  if (by === 'a session' && route.id === 'login-code.create') return 'unauthorized'
  return hasRole(role, route.role!) ? 'passes' : 'insufficient_role'
}

eachEngine((engine) => {
  let service: TimedService
  let routes: Route[]
  let inside: string
  let outside: string
  beforeAll(async () => {
    const env = { JETON_ENCRYPTION_KEY: randomBytes(32).toString('base64') }
    service = await startTimedService(engine, { worker: false, env })
    const all = await managementRoutes(service.url)
    // It comes last, since it ends the session that the others are called with.
    const isLast = ({ id }: Route) => id === 'session.end-current'
    routes = [...all.filter((route) => !isLast(route)), ...all.filter(isLast)].filter(
      ({ id }) => id !== SIGN_IN,
    )
    expect(all.filter(({ role }) => role === undefined).map(({ id }) => id)).toEqual([SIGN_IN])
    inside = (await service.project('Inside')).id
    outside = (await service.project('Outside')).id
  })
  afterAll(() => service.stop())

  const managerBy = async (by: By, operator: Credential): Promise<Manage> =>
    by === 'a session' ? bySession(service.url, operator) : byPair(service.url, operator)
  const inProject = () => routes.filter(({ path }) => path.includes('{project_id}'))

  describe('roles', () => {
    test('every management route names the least role that its effect requires', () => {
      expect(routes.length).toBeGreaterThan(50)
      const declared = routes.map(({ id, role }) => [id, role])
      expect(declared).toEqual(routes.map((route) => [route.id, roleFor(route)]))
    })

    test.each(ROLES.flatMap((role) => CREDENTIALS.map((by) => ({ role, by }))))(
      'every route lets $role in with $by as far as its role goes, and no further',
      async ({ role, by }) => {
        const manage = await managerBy(by, await newOperator(service, role))
        for (const route of routes) {
          const answer = await call(manage, route, inside)
          expect(verdictOf(answer), `${role} ${route.id} ${answer.text}`).toBe(expected(route, { role, by }))
        }
      },
    )

    test.each((['editor', 'viewer'] as const).flatMap((role) => CREDENTIALS.map((by) => ({ role, by }))))(
      'a route lets $role in with $by inside its projects, and outside of them nothing exists',
      async ({ role, by }) => {
        const operator = await newOperator(service, role, [inside])
        const first = await managerBy(by, operator)
        for (const route of routes) {
          const wanted = route.projects === 'all' ? 'insufficient_role' : expected(route, { role, by })
          expect(verdictOf(await call(first, route, inside)), `inside: ${role} ${route.id}`).toBe(wanted)
        }
        const manage = await managerBy(by, operator)
        for (const route of inProject()) {
          const [there, never] = [
            await call(manage, route, outside),
            await call(manage, route, 'proj_never0000000000'),
          ]
          expect([there.status, there.body.key], `outside: ${role} ${route.id}`).toEqual([404, 'not_found'])
          expect(withoutRequest(there, outside)).toBe(withoutRequest(never, 'proj_never0000000000'))
        }
      },
    )

    test('another spelling of a project does not open it', async () => {
      const manage = byPair(service.url, await newOperator(service, 'editor', [inside]))
      const spellings = [
        encodeURIComponent(outside),
        outside.replace('_', '%5F'),
        `${inside}%2F..%2F${outside}`,
      ]
      for (const spelling of [...spellings, `${inside}%00`, inside.toUpperCase()])
        expect((await manage('GET', `/projects/${spelling}/api-keys`)).status, spelling).toBe(404)
      expect((await manage('GET', `/projects/${inside.replace('_', '%5F')}/api-keys`)).status).toBe(200)
    })
  })

  describe('an operator who is limited to projects', () => {
    let manage: Manage
    let nowhere: Manage
    beforeAll(async () => {
      manage = byPair(service.url, await newOperator(service, 'viewer', [inside]))
      nowhere = byPair(service.url, await newOperator(service, 'viewer', []))
    })

    test('lists its own projects, and no other one by name', async () => {
      const { body } = await manage('GET', '/projects')
      expect([body.total, body.data.map((one: { id: string }) => one.id)]).toEqual([1, [inside]])
      expect((await manage('GET', '/projects?name=Outside')).body).toMatchObject({ total: 0, data: [] })
      expect((await nowhere('GET', '/projects')).body).toMatchObject({ total: 0, data: [] })
      expect((await service.manage('GET', '/projects')).body.total).toBe(2)
    })

    test('finds no refusal of another project, nor one without a project', async () => {
      const refusalIn = async (projectId: string): Promise<string> => {
        const { appId } = await service.key(projectId)
        return (await service.issue({ appId, appToken: 'wrong' })).body.request_id
      }
      const [own, foreign] = [await refusalIn(inside), await refusalIn(outside)]
      const none = (await service.issue({ appId: 'nobody', appToken: 'wrong' })).body.request_id
      expect((await manage('GET', `/refusals/${own}`)).status).toBe(200)
      const unknown = withoutRequest(await manage('GET', '/refusals/v-never'), 'v-never')
      for (const id of [foreign, none]) {
        expect((await service.manage('GET', `/refusals/${id}`)).status).toBe(200)
        const answer = await manage('GET', `/refusals/${id}`)
        expect([answer.status, withoutRequest(answer, id)]).toEqual([404, unknown])
        expect((await nowhere('GET', `/refusals/${id}`)).status).toBe(404)
      }
    })

    test('learns nothing from an access check about keys and tokens of another project', async () => {
      const check = async (ask: Manage, what: object) =>
        (await ask('POST', '/access-checks', { ...what, path: '/v1/vouchers' })).body
      const [own, foreign] = [await service.key(inside), await service.key(outside)]
      const token = async (pair: typeof own) => ({
        access_token: (await service.issue(pair)).body.access_token,
      })
      const [ownToken, foreignToken] = [await token(own), await token(foreign)]
      expect((await check(manage, { app_id: own.appId })).allowed).toBe(true)
      expect((await check(manage, ownToken)).allowed).toBe(true)
      expect((await check(service.manage, foreignToken)).allowed).toBe(true)
      expect(await check(manage, { app_id: foreign.appId })).toEqual(
        await check(manage, { app_id: 'unknown' }),
      )
      const steps = (await check(manage, foreignToken)).steps.slice(1)
      expect(steps).toEqual([
        { step: 'well_formed', passed: true, says: expect.any(String) },
        { step: 'known', passed: false, says: expect.stringContaining('is unknown') },
      ])
    })

    test('reads the audit log of its projects, and not the log of all', async () => {
      expect((await manage('GET', `/projects/${inside}/audit-log`)).body.total).toBeGreaterThan(0)
      const all = await manage('GET', '/audit-log')
      expect([all.status, all.body.key]).toEqual([403, 'insufficient_role'])
      expect(all.body.details).toContain('/management/v1/projects/{project_id}')
    })
  })

  describe('the role of an operator', () => {
    const change = (id: string, body: object) => service.manage('PATCH', `/operators/${id}`, body)

    test('is viewer unless another one is named, and its change is in the audit log', async () => {
      const { body: created } = await service.manage('POST', '/operators', { name: 'Vi' })
      expect(created).toMatchObject({ role: 'viewer', projects: null })
      const after = { name: 'Vera', role: 'editor', projects: [inside] }
      expect((await change(created.id, after)).body).toMatchObject(after)
      const { body: log } = await service.manage(
        'GET',
        `/audit-log?subject=${created.id}&action=operator.updated`,
      )
      expect(log.data[0]).toMatchObject({
        action: 'operator.updated',
        before: { name: 'Vi', role: 'viewer', projects: null },
        after,
      })
      expect((await change(created.id, after)).status).toBe(200)
      expect((await service.manage('GET', `/audit-log?subject=${created.id}`)).body.total).toBe(2)
    })

    test('lifts the limit to projects when it becomes admin, and an admin is never limited', async () => {
      const { id } = await newOperator(service, 'viewer', [inside])
      const refused = await change(id, { role: 'admin', projects: [inside] })
      expect([refused.status, refused.body.key]).toEqual([400, 'invalid_payload'])
      const asAdmin = { name: 'x', role: 'admin', projects: [inside] }
      expect((await service.manage('POST', '/operators', asAdmin)).status).toBe(400)
      expect((await change(id, { role: 'admin' })).body).toMatchObject({ role: 'admin', projects: null })
      expect((await change(id, { projects: [inside] })).status).toBe(400)
      expect((await change(id, { role: 'viewer' })).body).toMatchObject({ role: 'viewer', projects: null })
    })

    test('is limited to projects that exist, each named once', async () => {
      const missing = await service.manage('POST', '/operators', {
        name: 'x',
        projects: [inside, 'proj_none'],
      })
      expect([missing.status, missing.body.resource_id]).toEqual([404, 'proj_none'])
      const { id } = await newOperator(service, 'viewer')
      expect((await change(id, { projects: ['proj_none'] })).status).toBe(404)
      expect((await change(id, { projects: [inside, inside] })).status).toBe(400)
      for (const body of [{}, { role: 'root' }, { role: null }, { projects: 'all' }])
        expect((await change(id, body)).status, JSON.stringify(body)).toBe(400)
    })

    test('of the last admin cannot be taken away, and it cannot be deleted', async () => {
      const own = await startTimedService(engine, { worker: false })
      await newOperator(own, 'editor')
      for (const [method, body] of [
        ['PATCH', { role: 'editor' }],
        ['PATCH', { role: 'viewer', projects: [] }],
        ['DELETE', undefined],
      ] as const) {
        const answer = await own.manage(method, `/operators/${OPERATOR.id}`, body)
        expect([answer.status, answer.body.key], method).toEqual([409, 'invalid_state'])
      }
      expect((await own.manage('PATCH', `/operators/${OPERATOR.id}`, { name: 'Root' })).status).toBe(200)
      await own.stop()
    })

    test('of the operator that the settings name is admin again after a start', async () => {
      const own = await startTimedService(engine, { worker: false })
      const other = byPair(own.url, await newOperator(own, 'admin'))
      const project = await own.project('Shop')
      const less = { role: 'viewer', projects: [project.id] }
      expect((await other('PATCH', `/operators/${OPERATOR.id}`, less)).status).toBe(200)
      expect((await own.manage('GET', '/operators')).status).toBe(403)
      await ensureConfiguredOperator({ db: own.service.db, random: randomBytes }, OPERATOR)
      expect((await own.manage('GET', `/operators/${OPERATOR.id}`)).body).toMatchObject({
        role: 'admin',
        projects: null,
      })
      await own.stop()
    })
  })
})
