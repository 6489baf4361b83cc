/** Kinds of events in words, by their wire name. */
export const EVENT_KINDS = [
  ['customer.reward_redemptions.completed', 'Reward redeemed'],
  ['webhook.test', 'Test'],
] as const

/** A kind in words, by either of its names; unknown ones by their name. */
export function kindText(type: string): string {
  const wire = type.replace(/^EVENTS\./, '').toLowerCase()
  return EVENT_KINDS.find(([kind]) => kind === wire)?.[1] ?? type
}
