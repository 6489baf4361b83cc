import { afterEach, describe, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { type MultiProcess, type ServiceProcess, startProcesses } from '../multi-process.ts'
import { byPair, type Credential, newOperator } from '../operators.ts'
import { OPERATOR } from '../service.ts'

eachEngine((engine) => {
  let multiProcess: MultiProcess
  afterEach(() => multiProcess.close())
  const open = async (): Promise<[ServiceProcess, ServiceProcess]> => {
    multiProcess = await startProcesses(engine, 2)
    return [multiProcess.processes[0]!, multiProcess.processes[1]!]
  }

  describe('two processes on one store', () => {
    test('a new role and new projects count from the next request, in the other process too', async () => {
      const [here, there] = await open()
      const project = await here.project('Shop')
      const { id, token } = await newOperator(here, 'viewer', [project.id])
      const list = byPair(there.url, { id, token })
      const create = () => list('POST', `/projects/${project.id}/api-keys`, { name: 'k' })
      expect((await create()).body.key).toBe('insufficient_role')
      await here.manage('PATCH', `/operators/${id}`, { role: 'editor' })
      expect((await create()).status).toBe(201)
      await here.manage('PATCH', `/operators/${id}`, { projects: [] })
      expect((await create()).status).toBe(404)
      await here.manage('DELETE', `/operators/${id}`)
      expect((await create()).status).toBe(401)
    })

    test('two admins who demote or delete each other at once leave an admin', async () => {
      const [here, there] = await open()
      const first: Credential = { id: OPERATOR.id, token: OPERATOR.token }
      for (const [mine, yours] of [
        ['PATCH', 'PATCH'],
        ['PATCH', 'DELETE'],
        ['DELETE', 'PATCH'],
        ['PATCH', 'PATCH'],
      ] as const) {
        const second = await newOperator(here, 'admin')
        const bodyOf = (method: string) => (method === 'PATCH' ? { role: 'viewer' } : undefined)
        const answers = await Promise.all([
          byPair(here.url, first)(mine, `/operators/${second.id}`, bodyOf(mine)),
          byPair(there.url, second)(yours, `/operators/${first.id}`, bodyOf(yours)),
        ])
        const won = answers.filter(({ status }) => status < 300)
        expect(won, JSON.stringify(answers.map(({ text }) => text))).toHaveLength(1)
        // The remaining admin restores the first one for the next round.
        if (answers[1]!.status < 300) {
          if (yours === 'DELETE') return
          const restored = await byPair(here.url, second)('PATCH', `/operators/${first.id}`, {
            role: 'admin',
          })
          expect(restored.status).toBe(200)
          await byPair(here.url, first)('DELETE', `/operators/${second.id}`)
        }
      }
    })
  })
})
