/** Areas for people who choose permissions. A scope that is listed nowhere is shown under "More". */
export const AREAS: readonly (readonly [title: string, scopes: readonly string[]])[] = [
  ['Everything', ['api', 'client_api']],
  ['Loyalty', ['loyalties', 'rewards', 'redemptions', 'qualifications', 'promotions', 'referrals']],
  [
    'Vouchers and campaigns',
    [
      'vouchers',
      'campaigns',
      'publications',
      'validations',
      'validation-rules',
      'validation-rules-assignments',
    ],
  ],
  ['Customers', ['customers', 'consents', 'segments', 'events']],
  ['Catalogue and orders', ['products', 'SKUs', 'product-collections', 'categories', 'orders', 'locations']],
]

export const MORE = 'More'
export const BROWSERS = 'For browsers and apps, below /client/v1'

/** The area of a scope of the list. */
export function areaOf({ name, side }: { name: string; side: string }): string {
  const area = AREAS.find(([, scopes]) => scopes.includes(name))?.[0]
  return area ?? (side === 'client' ? BROWSERS : MORE)
}
