import { VoucherifyServerSide } from '@voucherify/sdk'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eachEngine } from '../../engines.ts'
import { startService, type TestService } from '../../service.ts'
import { TestClock } from '../../test-clock.ts'

/** The platform's own client, pointed at a running server. */
eachEngine((engine) => {
  let service: TestService
  let client: ReturnType<typeof VoucherifyServerSide>

  let projects = 0

  beforeAll(async () => {
    service = await startService(await engine.settings(), { clock: new TestClock() })
  })
  beforeEach(async () => {
    const { id } = await service.project(`Club ${++projects}`)
    const { appId, appToken } = await service.key(id)
    client = VoucherifyServerSide({ apiUrl: service.url, applicationId: appId, secretKey: appToken })
  })
  afterAll(() => service.stop())

  async function prepared() {
    const customer = await client.customers.create({
      source_id: 'ann',
      name: 'Ann',
      email: 'ann@example.com',
    })
    const campaign = await client.loyalties.create({
      name: 'Club',
      type: 'AUTO_UPDATE',
      voucher: {
        type: 'LOYALTY_CARD',
        loyalty_card: { points: 10 },
        code_config: { length: 6, prefix: 'CARD-', suffix: '-X' },
      },
    })
    const member = await client.loyalties.createMember(campaign.id, { customer: { source_id: 'ann' } })
    const product = await client.products.create({ name: 'Mug', source_id: 'mug', price: 900 })
    const reward = await client.rewards.create({
      name: 'A mug',
      type: 'MATERIAL',
      stock: 2,
      parameters: { product: { id: product.id } },
    })
    const assignment = await client.rewards.createAssignment(reward.id, {
      campaign: campaign.id,
      parameters: { loyalty: { points: 100 } },
    })
    return { customer, campaign, member, product, reward, assignment }
  }

  test('the official client earns, reads and redeems points', async () => {
    const { customer, campaign, member, product, reward, assignment } = await prepared()
    expect(member).toMatchObject({
      code: expect.stringMatching(/^CARD-[0-9a-zA-Z]{6}-X$/),
      loyalty_card: { points: 10, balance: 10 },
      campaign: 'Club',
      campaign_id: campaign.id,
      holder_id: (customer as { id: string }).id,
    })

    const added = await client.loyalties.addPoints(campaign.id, member.code, { points: 140 })
    expect(added).toEqual({
      points: 140,
      total: 150,
      balance: 150,
      type: 'loyalty_card',
      object: 'balance',
      related_object: { type: 'voucher', id: member.id },
    })
    const taken = await client.loyalties.addOrRemoveCardBalance(member.code, {
      points: -20,
      reason: 'a slip',
    })
    expect(taken).toMatchObject({ points: -20, total: 150, balance: 130 })

    const redemption = await client.loyalties.redeemReward(campaign.id, member.code, {
      reward: { id: reward.id },
      metadata: { till: 4 },
    })
    expect(redemption).toMatchObject({
      id: expect.stringMatching(/^r_/),
      object: 'redemption',
      amount: 100,
      result: 'SUCCESS',
      tracking_id: 'ann',
      metadata: { till: 4 },
      order: null,
      related_object_type: 'voucher',
      related_object_id: member.id,
      customer: { name: 'Ann', email: 'ann@example.com', object: 'customer' },
      voucher: { code: member.code, loyalty_card: { points: 150, balance: 30 } },
      reward: {
        id: reward.id,
        assignment_id: assignment.id,
        product: { id: product.id, source_id: 'mug', name: 'Mug' },
      },
    })
    expect(await client.rewards.get(reward.id)).toMatchObject({ stock: 1, redeemed: 1 })
  })

  test('the official client reads every list under its name', async () => {
    const { campaign, member, reward, assignment } = await prepared()
    await client.loyalties.addPoints(campaign.id, member.code, { points: 200 })
    await client.loyalties.redeemReward(campaign.id, member.code, { reward: { id: reward.id } })

    const customers = await client.customers.list({ limit: 10, page: 1 })
    expect(customers).toMatchObject({ object: 'list', data_ref: 'customers', total: 1 })
    expect(customers.customers[0]).toMatchObject({ source_id: 'ann', loyalty: { points: 110 } })
    expect(await client.loyalties.list()).toMatchObject({
      data_ref: 'campaigns',
      campaigns: [{ name: 'Club' }],
    })
    expect(await client.loyalties.listMembers('Club', { limit: 5 })).toMatchObject({
      data_ref: 'vouchers',
      total: 1,
      vouchers: [{ code: member.code }],
    })
    expect(await client.rewards.list()).toMatchObject({
      data_ref: 'data',
      total: 1,
      data: [{ id: reward.id }],
    })
    expect(await client.rewards.listAssignments(reward.id)).toMatchObject({ data: [{ id: assignment.id }] })
    expect(await client.loyalties.listRewardAssignments(campaign.id)).toMatchObject({
      data: [{ id: assignment.id, related_object_id: campaign.id }],
    })
    expect(await client.loyalties.listMemberRewards(member.code, { affordable_only: true })).toMatchObject({
      total: 1,
      data: [{ object: 'loyalty_reward', reward: { id: reward.id }, assignment: { id: assignment.id } }],
    })
    const transactions = await client.loyalties.listCardTransactions(member.code, campaign.id)
    expect(transactions.data.map(({ type, details }) => [type, details.balance.points])).toEqual([
      ['POINTS_REDEMPTION', -100],
      ['POINTS_ADDITION', 200],
      ['POINTS_ADDITION', 10],
    ])
    const activity = await client.loyalties.listMemberActivity(null, member.code, { limit: 1 })
    expect(activity).toMatchObject({
      has_more: true,
      data: [{ type: 'customer.reward_redemptions.completed' }],
    })
    expect(await client.products.list()).toMatchObject({ data_ref: 'products', total: 1 })
  })

  test('the official client changes and deletes resources', async () => {
    const { campaign, reward, assignment } = await prepared()
    expect(await client.customers.update({ source_id: 'ann', phone: '+49 30' })).toMatchObject({
      name: 'Ann',
      phone: '+49 30',
    })
    expect(await client.loyalties.update({ id: campaign.id, description: 'Ours' })).toMatchObject({
      name: 'Club',
      description: 'Ours',
    })
    const change = { id: assignment.id, parameters: { loyalty: { points: 70 } } }
    expect(await client.rewards.updateAssignment(reward.id, change)).toMatchObject({
      parameters: { loyalty: { points: 70 } },
    })
    await client.loyalties.deleteRewardAssignment(campaign.id, assignment.id)
    await client.rewards.delete(reward.id)
    await client.customers.delete('ann')
    expect(await client.customers.list({})).toMatchObject({ total: 0 })
  })

  test('the official client recognizes our errors as its own error class', async () => {
    const { campaign, member, reward } = await prepared()
    const redeem = (code: string, id: string) =>
      client.loyalties.redeemReward(campaign.id, code, { reward: { id } }).then(
        () => undefined,
        (error) => error,
      )
    const exceeded = await redeem(member.code, reward.id)
    expect(exceeded.constructor.name).toBe((await unknownCustomer()).constructor.name)
    expect(exceeded).toMatchObject({
      code: 400,
      key: 'loyalty_card_points_exceeded',
      request_id: expect.stringMatching(/^v-/),
    })
    expect(await redeem('nobody', reward.id)).toMatchObject({
      code: 404,
      key: 'not_found',
      resource_type: 'voucher',
      resource_id: 'nobody',
    })
    expect(await redeem(member.code, 'rew_nothing')).toMatchObject({ resource_type: 'reward' })
    await expect(
      client.loyalties.create({
        name: 'Club',
        voucher: { type: 'LOYALTY_CARD', loyalty_card: { points: 0 } },
      }),
    ).rejects.toMatchObject({ code: 409, key: 'duplicate_found' })
    await expect(client.rewards.delete(reward.id)).rejects.toMatchObject({
      code: 400,
      key: 'resource_in_use',
    })
  })

  const unknownCustomer = () => client.customers.get('nobody').then(String, (error) => error)
})
