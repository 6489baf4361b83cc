import type { Page } from 'playwright-core'
import { expect } from 'vitest'

interface Subjects {
  readonly projectId: string
  readonly keyId: string
  readonly eventId: string
  readonly deliveryId: string
  readonly destinationId: string
  readonly customerId: string
}

/** Every page of the console by its title in the navigation, with the address of an example. */
export const PAGES: Readonly<Record<string, (subjects: Subjects) => string>> = {
  Overview: ({ projectId }) => `/projects/${projectId}/overview`,
  'API keys': ({ projectId }) => `/projects/${projectId}/api-keys`,
  'API key': ({ projectId, keyId }) => `/projects/${projectId}/api-keys/${keyId}`,
  Tokens: ({ projectId }) => `/projects/${projectId}/tokens`,
  Access: ({ projectId }) => `/projects/${projectId}/access`,
  Events: ({ projectId }) => `/projects/${projectId}/events`,
  Event: ({ projectId, eventId }) => `/projects/${projectId}/events/${eventId}`,
  Deliveries: ({ projectId }) => `/projects/${projectId}/deliveries`,
  Delivery: ({ projectId, deliveryId }) => `/projects/${projectId}/deliveries/${deliveryId}`,
  Destinations: ({ projectId }) => `/projects/${projectId}/destinations`,
  'Add a destination': ({ projectId }) => `/projects/${projectId}/destinations/new`,
  Destination: ({ projectId, destinationId }) => `/projects/${projectId}/destinations/${destinationId}`,
  Customers: ({ projectId }) => `/projects/${projectId}/customers`,
  Customer: ({ projectId, customerId }) => `/projects/${projectId}/customers/${customerId}`,
  'Your sessions': () => '/sessions',
  'Audit log': ({ projectId }) => `/projects/${projectId}/audit-log`,
  System: () => '/system',
  Operators: () => '/operators',
  Settings: ({ projectId }) => `/projects/${projectId}/settings`,
}

/** Opens a page and waits until it has loaded everything. */
export async function openPage(page: Page, path: string): Promise<void> {
  await page.goto(`/console${path}`)
  await page.locator('main h1').first().waitFor()
  await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
}
