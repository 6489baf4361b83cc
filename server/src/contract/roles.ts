/** Roles of operators, the least first. Each role includes what the ones before it may do. */
export const ROLES = ['viewer', 'editor', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** False for a text that is no role. */
export const hasRole = (role: string, least: Role): boolean =>
  ROLES.indexOf(role as Role) >= ROLES.indexOf(least)
