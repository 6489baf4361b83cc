import type { Schemas } from '../api/client.ts'

type Entry = Schemas['AuditEntry']

/** The name of the operator or key that made a change; its id if it was deleted. */
export const actorText = ({ actor, actor_name }: Pick<Entry, 'actor' | 'actor_name'>): string =>
  actor.type === 'system' ? `the service (${actor.id})` : (actor_name ?? actor.id)

export const VIA: Readonly<Record<Entry['via'], string>> = {
  session: 'console',
  token: 'credential',
  local: 'local',
}
