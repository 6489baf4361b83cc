import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eachEngine } from '../../engines.ts'
import { ok, openShop, type Shop } from '../../loyalty.ts'
import fc from '../../properties.ts'
import { startService, type TestService } from '../../service.ts'
import { TestClock } from '../../test-clock.ts'
import { everythingIn } from '../../timed-service.ts'

const card = (points: unknown = 0, more: object = {}) => ({
  type: 'LOYALTY_CARD',
  loyalty_card: { points },
  ...more,
})
const TOO_LARGE = { text: 'x'.repeat(20_000) }

eachEngine((engine) => {
  let service: TestService
  let shop: Shop
  let member: Awaited<ReturnType<Shop['member']>>
  let reward: Awaited<ReturnType<Shop['material']>>

  beforeAll(async () => {
    service = await startService(await engine.settings(), { clock: new TestClock() })
    shop = await openShop(service)
    member = await shop.member(500)
    reward = await shop.material({ price: 10, stock: 5 })
  })
  afterAll(() => service.stop())

  let before: Awaited<ReturnType<typeof everythingIn>>
  beforeEach(async () => {
    before = await everythingIn(service.service.db)
  })

  /** Expects a clear error, and that nothing was partly written. */
  async function refuses(method: string, path: string, body: unknown, expected: [number, string, string?]) {
    const { status, body: error } = await shop.call(method, path, body as never)
    expect([status, error.key], error.message).toEqual(expected.slice(0, 2))
    if (expected[2]) expect(error.message).toContain(expected[2])
    expect(error.message).not.toMatch(/sql|constraint|stack|undefined/i)
    expect(await everythingIn(service.service.db)).toEqual(before)
  }
  const invalid = (says?: string): [number, string, string?] => [400, 'invalid_payload', says]

  describe('points', () => {
    test.each([
      [2 ** 53, 'at most 9007199254740991'],
      [-(2 ** 53), 'at least -9007199254740991'],
      [1e300, 'at most'],
      [0.5, 'a whole number'],
      [0, 'must not be 0'],
      ['100', 'a whole number'],
      [null, 'a whole number'],
      [[100], 'a whole number'],
      [true, 'a whole number'],
    ])('%j points cannot be added', async (points, says) => {
      await refuses('POST', `/loyalties/members/${member.code}/balance`, { points }, invalid(says))
    })

    test('points with an expiry cannot be added, since points do not expire', async () => {
      const path = `/loyalties/members/${member.code}/balance`
      for (const more of [{ expiration_type: 'CUSTOM_DATE' }, { expiration_date: '2030-01-01' }])
        await refuses('POST', path, { points: 1, ...more }, invalid('do not expire'))
      await refuses('POST', path, { points: 1, expiration_type: 'SOON' }, invalid('must be one of'))
    })

    test.each([2 ** 53, -1, 1.5, '10'])('%j points are refused as a price', async (points) => {
      const parameters = { loyalty: { points } }
      await refuses(
        'PUT',
        `/rewards/${reward.id}/assignments/${reward.assignmentId}`,
        { parameters },
        invalid(),
      )
    })

    test.each([2 ** 53, -1, 1.5, '10', null])(
      '%j points are refused as the initial balance',
      async (points) => {
        await refuses('POST', '/loyalties', { name: 'new', voucher: card(points) }, invalid())
      },
    )

    test.each([-5, 0, 1.5, '10', 2 ** 53])('%j points are refused as a rate of coins', async (points) => {
      const body = { reward: { id: reward.id, points }, order: { amount: 100 } }
      await refuses('POST', `/loyalties/members/${member.code}/redemption`, body, invalid())
    })
  })

  describe('a campaign', () => {
    test.each<[string, object, [number, string, string?]]>([
      ['without a name', { voucher: card() }, [400, 'missing_parameters', 'name is missing']],
      ['with a blank name', { name: ' ', voucher: card() }, invalid('name')],
      ['without a voucher', { name: 'new' }, [400, 'missing_parameters', 'voucher is missing']],
      ['with an unknown type', { name: 'new', voucher: card(), type: 'DYNAMIC' }, invalid('must be one of')],
      [
        'of another kind',
        { name: 'new', voucher: { type: 'GIFT_VOUCHER', gift: { amount: 1 } } },
        invalid('must be LOYALTY_CARD'),
      ],
      ['without points', { name: 'new', voucher: { type: 'LOYALTY_CARD' } }, [400, 'missing_parameters']],
      [
        'that ends before it begins',
        { name: 'new', voucher: card(), start_date: '2030-01-02', expiration_date: '2030-01-01' },
        invalid('later than start_date'),
      ],
      [
        'with a date that is none',
        { name: 'new', voucher: card(), start_date: 'tomorrow' },
        invalid('such as'),
      ],
      ['with metadata that is a list', { name: 'new', voucher: card(), metadata: [1] }, invalid('metadata')],
      [
        'with metadata of 20 KB',
        { name: 'new', voucher: card(), metadata: TOO_LARGE },
        invalid('metadata is larger'),
      ],
      [
        'with a pattern that draws nothing',
        { name: 'new', voucher: card(0, { code_config: { pattern: 'SAME' } }) },
        invalid('"#"'),
      ],
      [
        'with a charset that no path takes',
        { name: 'new', voucher: card(0, { code_config: { charset: 'a/b' } }) },
        invalid('charset'),
      ],
      [
        'with codes of a mile',
        { name: 'new', voucher: card(0, { code_config: { length: 1609 } }) },
        invalid('at most 32'),
      ],
    ])('%s is refused', async (_, body, expected) => refuses('POST', '/loyalties', body, expected))

    test('a campaign with a name in use is refused, at creation and by change', async () => {
      const taken = { name: shop.campaign.name, voucher: card() }
      await refuses('POST', '/loyalties', taken, [409, 'duplicate_found', shop.campaign.name])
      const other = await ok(shop.call('POST', '/loyalties', { name: 'other', voucher: card() }))
      before = await everythingIn(service.service.db)
      const change = { name: shop.campaign.name }
      await refuses('PUT', `/loyalties/${other.id}`, change, [409, 'duplicate_found'])
    })

    test('a campaign in use cannot be deleted', async () => {
      const { id } = shop.campaign
      await refuses('DELETE', `/loyalties/${id}`, undefined, [
        400,
        'resource_in_use',
        'members or vouchers and 1 assigned reward',
      ])
    })
  })

  describe('a reward', () => {
    const coin = (exchange_ratio: unknown, points_ratio?: unknown) => ({
      name: 'r',
      type: 'COIN',
      parameters: { coin: { exchange_ratio, points_ratio } },
    })
    test.each<[string, object, [number, string, string?]]>([
      [
        'of an unknown type',
        { name: 'r', type: 'GOLD', parameters: {} },
        invalid('MATERIAL, COIN, CAMPAIGN'),
      ],
      [
        'without parameters',
        { name: 'r', type: 'COIN' },
        [400, 'missing_parameters', 'parameters is missing'],
      ],
      [
        'without those of its type',
        { name: 'r', type: 'COIN', parameters: {} },
        [400, 'missing_parameters', 'parameters.coin'],
      ],
      ['of nothing', coin(0), invalid()],
      ['of a fraction of a cent', coin(0.015), invalid('two decimals')],
      ['of half a point', coin(1, 0.5), invalid('points_ratio')],
      [
        'of a product that is not there',
        { name: 'r', type: 'MATERIAL', parameters: { product: { id: 'prod_x' } } },
        [404, 'not_found', 'product'],
      ],
      [
        'of a campaign that is not there',
        { name: 'r', type: 'CAMPAIGN', parameters: { campaign: { id: 'camp_x' } } },
        [404, 'not_found', 'campaign'],
      ],
      ['with less than nothing in stock', { ...coin(1), stock: -1 }, invalid('stock')],
      ['with half of one in stock', { ...coin(1), stock: 0.5 }, invalid('stock')],
      ['with a stock in words', { ...coin(1), stock: '10' }, invalid('stock')],
    ])('%s is refused', async (_, body, expected) => refuses('POST', '/rewards', body, expected))

    test('a reward is assigned to a campaign once, and only at a price', async () => {
      const assignments = `/rewards/${reward.id}/assignments`
      const again = { campaign: shop.campaign.id, parameters: { loyalty: { points: 5 } } }
      await refuses('POST', assignments, again, [409, 'duplicate_found'])
      await refuses('POST', assignments, { campaign: shop.campaign.id }, [
        400,
        'missing_parameters',
        'points',
      ])
      await refuses('POST', assignments, {}, [400, 'missing_parameters', 'campaign'])
    })

    test('several rewards are assigned together or not at all', async () => {
      const coinReward = await ok(shop.call('POST', '/rewards', coin(1)))
      before = await everythingIn(service.service.db)
      const list = [{ reward: coinReward.id }, { reward: 'rew_nothing' }]
      await refuses('POST', `/loyalties/${shop.campaign.id}/rewards`, list, [404, 'not_found'])
      await refuses('POST', `/loyalties/${shop.campaign.id}/rewards`, { reward: 'x' }, invalid('a list'))
      expect(
        await ok(shop.call('POST', `/loyalties/${shop.campaign.id}/rewards`, list.slice(0, 1))),
      ).toMatchObject([{ reward_id: coinReward.id, parameters: null, object: 'reward_assignment' }])
    })
  })

  describe('a member', () => {
    const members = () => `/loyalties/${shop.campaign.id}/members`

    test.each<[string, object, [number, string, string?]]>([
      ['without a customer', {}, [400, 'missing_parameters', 'customer']],
      ['of nobody', { customer: {} }, invalid('customer')],
      ['whose customer is a number', { customer: 7 }, invalid('customer')],
      ['whose customer is not there', { customer: 'cust_x' }, [404, 'not_found', 'customer']],
      ['whose name is a number', { customer: { name: 7 } }, invalid('customer.name')],
      ['with too much metadata', { customer: { name: 'Bo' }, metadata: TOO_LARGE }, invalid('metadata')],
    ])('%s is refused', async (_, body, expected) => refuses('POST', members(), body, expected))

    test('a member code has only characters that are valid in a path, and others are refused', async () => {
      const bad = [
        ' ',
        '/',
        '?',
        '#',
        '%',
        '\\',
        '"',
        'ä',
        '💳',
        '\n',
        '\u202e',
        '&',
        "'",
        '<',
        ';',
        '',
        '..',
        'a b',
      ]
      for (const code of bad)
        await refuses('POST', members(), { customer: { name: 'Bo' }, voucher: code }, invalid('voucher'))
      const { code } = await ok(
        shop.call('POST', members(), { customer: { name: 'Bo' }, voucher: 'Az09-._~!$*+:@' }),
      )
      expect(await shop.balanceOf(code)).toBe(0)
    })

    test('a member code in use is refused', async () => {
      const body = { customer: { name: 'Bo' }, voucher: member.code }
      await refuses('POST', members(), body, [409, 'duplicate_found', member.code])
    })

    test('a member keeps the existing card, and a request for another code is refused', async () => {
      const same = await ok(shop.call('POST', members(), { customer: member.holder_id }))
      expect(same.id).toBe(member.id)
      await refuses('POST', members(), { customer: member.holder_id, voucher: 'another' }, [
        409,
        'duplicate_found',
      ])
    })
  })

  describe('a customer', () => {
    test.each<[string, object, [number, string, string?]]>([
      ['whose name is a number', { name: 7 }, invalid('name must be text')],
      ['whose address is text', { address: 'Berlin' }, invalid('address')],
      ['with a blank source_id', { source_id: ' ' }, invalid('source_id')],
      ['with a NUL', { name: 'a\0b' }, invalid('null character')],
      ['with metadata of 1 MB', { metadata: { a: 'x'.repeat(1024 * 1024) } }, [413, 'payload_too_large']],
      [
        'with metadata of 100 KB',
        { metadata: { a: 'x'.repeat(100 * 1024) } },
        invalid('metadata is larger than 16 KB'),
      ],
    ])('%s is refused', async (_, body, expected) => refuses('POST', '/customers', body, expected))

    test('a source_id of another customer is refused', async () => {
      await ok(shop.call('POST', '/customers', { source_id: 'one' }))
      const other = await ok(shop.call('POST', '/customers', { source_id: 'other' }))
      before = await everythingIn(service.service.db)
      await refuses('PUT', `/customers/${other.id}`, { source_id: 'one' }, [409, 'duplicate_found', 'one'])
    })

    test('a customer name is returned as it was sent, in any script', async () => {
      const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => {
        const plain = !/[\u0000-\u001f\u007f]/.test(text) && text.isWellFormed()
        return plain && text.trim() === text && text.length <= 150
      })
      const property = fc.asyncProperty(name, fc.jsonValue({ maxDepth: 3 }), async (text, value) => {
        fc.pre(!/\\u0000|\\ud|__proto__/.test(JSON.stringify(value)))
        const sent = { source_id: text, name: text, metadata: { value } }
        const made = await ok(shop.call('POST', '/customers', sent))
        const read = await ok(shop.call('GET', `/customers/${encodeURIComponent(made.id)}`))
        expect(read).toMatchObject({ source_id: text, name: text })
        expect(read.metadata).toEqual(JSON.parse(JSON.stringify({ value })))
        if (!['.', '..'].includes(text))
          expect((await ok(shop.call('GET', `/customers/${encodeURIComponent(text)}`))).id).toBe(made.id)
      })
      await fc.assert(property, { numRuns: 25 })
    })
  })

  test.each([
    ['GET', '/customers/nobody', 'customer'],
    ['DELETE', '/customers/nobody', 'customer'],
    ['GET', '/loyalties/nothing', 'campaign'],
    ['GET', '/loyalties/nothing/members', 'campaign'],
    ['GET', '/loyalties/members/nobody', 'voucher'],
    ['GET', '/loyalties/members/nobody/transactions', 'voucher'],
    ['GET', '/rewards/nothing', 'reward'],
    ['GET', '/rewards/nothing/assignments', 'reward'],
    ['GET', '/campaigns/nothing', 'campaign'],
    ['GET', '/products/nothing', 'product'],
    ['GET', '/vouchers/nothing', 'voucher'],
  ])('%s %s names the missing resource', async (method, path, type) => {
    const { body } = await shop.call(method, path)
    expect(body).toMatchObject({
      code: 404,
      key: 'not_found',
      resource_type: type,
      resource_id: expect.stringMatching(/^no(body|thing)$/),
    })
  })

  test('resources of another project are not found', async () => {
    const other = await openShop(service)
    const foreign = { member: await other.member(500), reward: await other.material() }
    const paths = [
      `/customers/${foreign.member.holder_id}`,
      `/loyalties/${other.campaign.id}`,
      `/loyalties/members/${foreign.member.code}`,
      `/rewards/${foreign.reward.id}`,
      `/rewards/${foreign.reward.id}/assignments/${foreign.reward.assignmentId}`,
      `/vouchers/${foreign.member.code}`,
    ]
    for (const path of paths) expect([(await shop.call('GET', path)).status, path]).toEqual([404, path])
    const assign = { campaign: other.campaign.id, parameters: { loyalty: { points: 1 } } }
    expect((await shop.call('POST', `/rewards/${reward.id}/assignments`, assign)).status).toBe(404)
    expect(
      (await ok(shop.call('GET', '/rewards?limit=100'))).data.map((one: { id: string }) => one.id),
    ).not.toContain(foreign.reward.id)
  })

  test('unknown fields of loyalty requests are ignored', async () => {
    const body = { name: 'Zoë', birthday: '1990-01-01', system_metadata: {} }
    expect(await ok(shop.call('POST', '/customers', body))).toMatchObject({ name: 'Zoë' })
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'page=0', 'page=-1'])(
    'a loyalty list refuses %s',
    async (query) => {
      expect((await shop.call('GET', `/customers?${query}`)).body).toMatchObject({
        code: 400,
        key: 'invalid_payload',
      })
    },
  )
})
