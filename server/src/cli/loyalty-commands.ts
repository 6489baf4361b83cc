import type { Command } from 'commander'
import { addClientOptions } from './client-options.ts'
import { exampleText } from './examples.ts'
import type { Io } from './io.ts'
import { plural } from './plural.ts'
import { addOutputOptions } from './resource-command.ts'

interface LoyaltyNoun {
  readonly name: string
  /** Where the list is, and the path of one. */
  readonly list: string
  readonly one: string
  readonly reference: string
  readonly columns: readonly string[]
}

/** What API clients made, to look at. Changing it is their business: jeton redeem is the one exception. */
const NOUNS: readonly LoyaltyNoun[] = [
  {
    name: 'customer',
    list: '/v1/customers',
    one: '/v1/customers',
    reference: 'id or source_id',
    columns: ['id', 'source_id', 'name', 'email', 'points', 'created_at'],
  },
  {
    name: 'campaign',
    list: '/v1/campaigns',
    one: '/v1/campaigns',
    reference: 'id or name',
    columns: ['id', 'name', 'campaign_type', 'active', 'created_at'],
  },
  {
    name: 'member',
    list: '/v1/loyalties/{campaign}/members',
    one: '/v1/loyalties/members',
    reference: 'code of the card',
    columns: ['code', 'campaign', 'holder_id', 'balance', 'active', 'created_at'],
  },
  {
    name: 'reward',
    list: '/v1/rewards',
    one: '/v1/rewards',
    reference: 'id',
    columns: ['id', 'name', 'type', 'stock', 'redeemed', 'created_at'],
  },
]

export function addLoyaltyCommands(program: Command, io: Io): void {
  for (const noun of NOUNS) addNoun(program, io, noun)
  const redeem = program
    .command('redeem')
    .summary('exchange points of a member for a reward')
    .description('Does what a shop does: takes points off a card and gives the reward. It cannot be undone.')
    .argument('<member>', 'code of the card')
    .argument('<reward>', 'id or name of a reward that the member can get')
    .addHelpText('after', exampleText(['jeton redeem SAMPLE-1 Mug']))
  addOutputOptions(addClientOptions(redeem))
  redeem.action(async (member, reward, options) =>
    (await import('./loyalty.ts')).redeem(io, { member, reward }, options),
  )
}

function addNoun(program: Command, io: Io, { name, list, one, reference, columns }: LoyaltyNoun): void {
  const noun = program.command(name).usage('<verb> [options]').summary('list show')
  const lister = noun
    .command('list')
    .summary(`List ${plural(name)}, newest first`)
    .option('--limit <number>', 'entries a page, 10 if not said')
    .option('--page <number>', 'page, from 1')
  if (list.includes('{campaign}')) lister.requiredOption('--campaign <campaign>', 'id or name')
  addOutputOptions(addClientOptions(lister))
  lister.action(async (options) =>
    (await import('./loyalty.ts')).list(io, { name, path: list, columns }, options),
  )

  const shower = noun.command('show').summary(`Read a ${name}`).argument(`<${name}>`, reference)
  addOutputOptions(addClientOptions(shower))
  shower.action(async (typed, options) => (await import('./loyalty.ts')).show(io, `${one}/`, typed, options))
}
