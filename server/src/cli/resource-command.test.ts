import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import type { Io } from './io.ts'
import { catalogueOf } from './operations.ts'
import { addResourceCommands } from './resource-command.ts'

/** An endpoint that is not mentioned anywhere in the command line. */
const DOCUMENT = {
  paths: {
    '/management/v1/projects/{project_id}/webhooks/{webhook_id}/rotate': {
      post: {
        operationId: 'webhook.rotate',
        summary: 'Replace the secret',
        parameters: ['project_id', 'webhook_id'].map((name) => ({
          name,
          in: 'path' as const,
          schema: { type: 'string' },
        })),
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  active: { type: 'boolean' },
                  events: { type: 'array', items: { type: 'string' } },
                  headers: { type: 'object' },
                  overlap_seconds: { type: ['integer', 'null'] },
                },
              },
            },
          },
        },
        responses: {
          '200': { content: { 'application/json': { schema: { properties: { id: {}, secret: {} } } } } },
        },
      },
    },
  },
}

async function echoing() {
  const received: { method: string; url: string; body: unknown }[] = []
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray()
    received.push({
      method: request.method!,
      url: request.url!,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"wh_1","secret":"whsec_1"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('a new endpoint is a new command with its fields as flags', async () => {
  const { server, received, url } = await echoing()
  let out = ''
  const io: Io = {
    argv: [],
    env: {
      JETON_URL: url,
      JETON_MANAGEMENT_ID: 'x',
      JETON_MANAGEMENT_TOKEN: 'y',
      XDG_CONFIG_HOME: '/nonexistent',
    },
    stdout: { write: (text) => (out += text) },
    stderr: { write: () => undefined },
    isTTY: false,
    readInput: async () => '',
    now: () => 0,
    goLive: () => {
      throw new Error('no command here keeps running')
    },
  }
  const program = new Command('jeton')
  addResourceCommands(program, io, { catalogue: catalogueOf(DOCUMENT), extras: {}, users: 'operators' })
  const flags = [
    '--active',
    'false',
    '--events',
    'a,b',
    '--events',
    'c',
    '--headers',
    '{"x":"y"}',
    '--overlap-seconds',
    'null',
  ]
  await program.parseAsync(['webhook', 'rotate', 'wh 1', '--project', 'proj_0000000000000000', ...flags], {
    from: 'user',
  })
  await new Promise((resolve) => server.close(resolve).closeAllConnections())

  expect(received).toEqual([
    {
      method: 'POST',
      url: '/management/v1/projects/proj_0000000000000000/webhooks/wh%201/rotate',
      body: { active: false, events: ['a', 'b', 'c'], headers: { x: 'y' }, overlap_seconds: null },
    },
  ])
  expect(out).toBe('id\twh_1\nsecret\twhsec_1\n')
})
