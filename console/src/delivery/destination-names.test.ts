import { expect, test } from 'vitest'
import { destinationNames, targetText } from './destination-names.ts'

test('destinations of one host differ by name or path, and those of one address by their id', () => {
  const names = destinationNames([
    { id: 'wh_orders', target_url: 'https://hooks.example/orders' },
    { id: 'wh_points', target_url: 'https://hooks.example/points' },
    { id: 'wh_named', target_url: 'https://hooks.example/points', name: 'CRM' },
    { id: 'wh_0123456789ab', target_url: 'https://crm.example/' },
    { id: 'wh_9876543210ab', target_url: 'https://crm.example/' },
  ])
  expect([...names.values()]).toEqual([
    'hooks.example/orders',
    'hooks.example/points',
    'CRM',
    'crm.example (wh_0123456…)',
    'crm.example (wh_9876543…)',
  ])
})

test('a long target is cut, text that is no URL stays, and a deleted destination is called so', () => {
  expect(targetText(`https://a.example/${'x'.repeat(100)}`)).toHaveLength(61)
  expect([targetText('nowhere'), targetText(null)]).toEqual(['nowhere', 'deleted destination'])
})
