import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyPluginCallback } from 'fastify'
import { inject } from 'vitest'
import type { Guard } from '../src/guard/index.ts'

/** Imports an entry of the packed SDK as a program outside of the repository does. */
async function entry<Module>(name: string): Promise<Module> {
  const resolve = createRequire(join(inject('sdkProject'), 'program.js')).resolve
  return import(/* @vite-ignore */ pathToFileURL(resolve(name)).href)
}

export const core = await entry<typeof import('../src/index.ts')>('@jeton/sdk')
export const guarding = await entry<typeof import('../src/guard/index.ts')>('@jeton/sdk/guard')
export const webhooks = await entry<typeof import('../src/webhooks/index.ts')>('@jeton/sdk/webhooks')
export const managing = await entry<typeof import('../src/management/index.ts')>('@jeton/sdk/management')
export const testing = await entry<typeof import('../src/testing/index.ts')>('@jeton/sdk/testing')
export const forExpress = await entry<typeof import('../src/adapters/express.ts')>('@jeton/sdk/express')
/** Without its types, whose `config.scope` differs from the one of the server. */
export const forFastify = await entry<{ jeton: FastifyPluginCallback<{ guard: Guard }> }>(
  '@jeton/sdk/fastify',
)
export const forHono = await entry<typeof import('../src/adapters/hono.ts')>('@jeton/sdk/hono')
