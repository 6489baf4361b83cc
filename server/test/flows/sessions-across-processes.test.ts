import { afterEach, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { type MultiProcess, startProcesses } from '../multi-process.ts'
import { byCookie, byPair, cookieOf, newOperator, newSession, signIn } from '../operators.ts'

eachEngine((engine) => {
  let multiProcess: MultiProcess
  afterEach(() => multiProcess.close())

  /** The ports differ, and so do the names of the cookies. */
  const cookieFor = (url: string, cookie: string): string =>
    `jeton_session_${new URL(url).port}=${cookie.split('=')[1]}`

  test('a session, its code, its role and its end count in every process at once', async () => {
    multiProcess = await startProcesses(engine, 2)
    const [here, there] = [multiProcess.processes[0]!, multiProcess.processes[1]!]
    const anna = await newOperator(here, 'viewer')
    const { code } = (await byPair(here.url, anna)('POST', '/login-codes')).body
    const signedIn = await signIn(there.url, { code })
    expect(signedIn.status).toBe(201)
    expect((await signIn(here.url, { code })).status).toBe(401)
    const manage = byCookie(here.url, cookieFor(here.url, cookieOf(signedIn)))
    const create = (name: string) => manage('POST', '/projects', { name })
    expect((await create('One')).body.key).toBe('insufficient_role')
    await there.manage('PATCH', `/operators/${anna.id}`, { role: 'admin' })
    expect((await create('One')).status).toBe(201)
    await there.manage('PATCH', `/operators/${anna.id}`, { role: 'viewer' })
    expect((await create('Two')).body.key).toBe('insufficient_role')
    expect((await there.manage('DELETE', `/sessions/${signedIn.body.id}`)).status).toBe(204)
    expect((await create('Two')).status).toBe(401)
  })

  test('one code at two processes at once starts one session, and deletion ends what races with it', async () => {
    multiProcess = await startProcesses(engine, 2)
    const [here, there] = [multiProcess.processes[0]!, multiProcess.processes[1]!]
    for (let round = 0; round < 3; round++) {
      const anna = await newOperator(here, 'viewer')
      const { code } = (await byPair(here.url, anna)('POST', '/login-codes')).body
      const both = await Promise.all([signIn(here.url, { code }), signIn(there.url, { code })])
      expect(both.map(({ status }) => status).sort()).toEqual([201, 401])
      const [started] = await Promise.all([
        newSession(there.url, anna).catch(() => ''),
        here.manage('DELETE', `/operators/${anna.id}`),
      ])
      const cookies = [started, ...both.map(cookieOf)].filter(Boolean)
      for (const cookie of cookies)
        expect((await byCookie(here.url, cookieFor(here.url, cookie))('GET', '/whoami')).status).toBe(401)
      expect((await here.manage('GET', '/sessions')).body.total).toBe(0)
    }
  })
})
