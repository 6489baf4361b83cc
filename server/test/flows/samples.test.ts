import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newFolder } from '../command-line.ts'
import { openShop } from '../loyalty.ts'
import { OPERATOR, send, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

interface Schema {
  readonly description?: string
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>
  readonly 'x-codeSamples'?: readonly { readonly lang: string; readonly source: string }[]
}

/** The operations that people try first, in an order in which each can succeed, and what they then answer. */
const MAIN = {
  'oauth.token': 200,
  'oauth.introspect': 200,
  'gateway.authorize': 200,
  'member.redeem': 200,
  'member.redeem-by-code': 200,
  'key.create': 201,
  'webhook.create': 201,
  'distribution.create': 201,
  'oauth.revoke': 204,
  'oauth.revoke-rfc7009': 200,
}

describe('the curl samples of the reference', () => {
  let service: TestService
  let variables: Record<string, string>
  let samples: Map<string, string>

  beforeAll(async () => {
    const folder = newFolder('samples')
    service = await startService({ JETON_DATA_DIR: folder }, { clock: new TestClock(), worker: false })
    const shop = await openShop(service)
    const [card, reward] = [await shop.member(500), await shop.material({ price: 10 })]
    // curl prints the status behind the body, so that samples run as they are shown.
    writeFileSync(join(folder, '.curlrc'), 'silent\nwrite-out = "\\n%{http_code}"\n')
    variables = {
      PATH: process.env.PATH!,
      CURL_HOME: folder,
      JETON_URL: service.url,
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      APP_ID: shop.pair.appId,
      APP_TOKEN: shop.pair.appToken,
      TOKEN: (await service.issue(shop.pair, 'api')).body.access_token,
      PROJECT_ID: shop.projectId,
      CAMPAIGN_ID: shop.campaign.id,
      MEMBER_ID: card.code,
      REWARD_ID: reward.id,
    }
    const { body } = await send(`${service.url}/openapi.json`)
    const operations = Object.values(body.paths as Record<string, Record<string, Operation>>)
    samples = new Map(
      operations
        .flatMap((methods) => Object.values(methods))
        .flatMap((one) =>
          (one['x-codeSamples'] ?? []).map(({ source }) => [one.operationId, source] as const),
        ),
    )
  })
  afterAll(() => service.stop())

  async function run(source: string, more: object = {}): Promise<{ status: number; text: string }> {
    const { stdout } = await promisify(execFile)('sh', ['-c', source], { env: { ...variables, ...more } })
    const end = stdout.lastIndexOf('\n')
    return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) }
  }

  test('the curl samples of the main operations work as shown', async () => {
    for (const [operation, expected] of Object.entries(MAIN)) {
      const { status, text } = await run(samples.get(operation)!)
      expect([operation, status, text]).toEqual([operation, expected, expect.any(String)])
      if (operation === 'oauth.introspect') expect(JSON.parse(text).active).toBe(true)
    }
  })

  test('the curl samples of all other operations send only valid requests', async () => {
    variables.TOKEN = JSON.parse((await run(samples.get('oauth.token')!)).text).access_token
    const others = [...samples].filter(([operation]) => !Object.hasOwn(MAIN, operation))
    expect(others.length).toBeGreaterThan(70)
    for (const [operation, source] of others) {
      const names = source.match(/(?<=\$)[A-Z_]+_ID\b|(?<=\$)CODE\b/g) ?? []
      const ids = names.filter((name) => !/PROJECT|APP|MANAGEMENT/.test(name)).map((name) => [name, 'none'])
      const { status, text } = await run(source, Object.fromEntries(ids))
      // It repeats the name of another project, and so it is refused.
      if (operation === 'project.delete') expect(text).toContain("does not match the project's name")
      // The token is only for loyalties and rewards.
      else expect([200, 201, 204, 403, 404], `${operation} ${text}`).toContain(status)
      expect(text).not.toMatch(/Not found: (GET|POST|PUT|PATCH|DELETE) /)
    }
  })
})

describe('the OpenAPI document', () => {
  const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
  const operations: Operation[] = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods as object),
  )

  const undescribed = (schema: Schema | undefined, path: string): string[] => [
    ...Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => [
      ...(property.description || property.$ref ? [] : [`${path}.${name}`]),
      ...undescribed(property, `${path}.${name}`),
    ]),
    ...(schema?.items ? undescribed(schema.items, `${path}[]`) : []),
  ]

  test('the OpenAPI document describes every operation, response and property, with a sample of each operation', () => {
    expect(operations.length).toBeGreaterThan(100)
    const found = operations.flatMap(({ operationId, description, requestBody, responses, ...one }) => [
      ...(description ? [] : [operationId]),
      ...(one['x-codeSamples'] ? [] : [`${operationId}: no sample`]),
      ...Object.values(responses).flatMap((one) =>
        one.description === 'Default Response' ? [operationId] : [],
      ),
      ...[requestBody, ...Object.values(responses)].flatMap((content) =>
        Object.values(content?.content ?? {}).flatMap(({ schema }) => undescribed(schema, operationId)),
      ),
    ])
    const shared = Object.entries(document.components.schemas as Record<string, Schema>)
    expect([...found, ...shared.flatMap(([name, schema]) => undescribed(schema, name))]).toEqual([])
  })
})
