import { expect, test } from 'vitest'
import { readCatalogue } from './operations.ts'
import { plural } from './plural.ts'

test('every noun of the command line has the plural that people write', () => {
  const nouns = [...readCatalogue().nouns, 'customer', 'campaign', 'member', 'reward']
  expect(nouns.map(plural).sort()).toEqual([
    'audit entries',
    'campaigns',
    'customers',
    'deliveries',
    'distributions',
    'events',
    'keys',
    'members',
    'operators',
    'projects',
    'refusals',
    'rewards',
    'tokens',
    'webhooks',
  ])
})
