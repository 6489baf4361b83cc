import { createContext, type ReactNode, useContext } from 'react'
import type { Schemas } from '../api/client.ts'

export type Whoami = Schemas['Whoami']
export type Role = 'viewer' | 'editor' | 'admin'

const RANKS: readonly string[] = ['viewer', 'editor', 'admin']
const SessionContext = createContext<Whoami | undefined>(undefined)

export const SessionProvider = ({ whoami, children }: { whoami: Whoami; children: ReactNode }) => (
  <SessionContext value={whoami}>{children}</SessionContext>
)

/** The operator who is signed in. */
export function useSession(): Whoami {
  const whoami = useContext(SessionContext)
  if (!whoami) throw new Error('No operator is signed in here.')
  return whoami
}

/** The role of the operator. The server decides; pages only leave out what it would refuse. */
export function useRole() {
  const { role, projects } = useSession()
  return {
    role: role as Role,
    can: (least: Role): boolean => RANKS.indexOf(role) >= RANKS.indexOf(least),
    /** True for operators of every project, who also see the service as a whole. */
    seesService: projects === null,
  }
}

/** Shows its content to operators with this role or a higher one. */
export const IfRole = ({ least, children }: { least: Role; children: ReactNode }) =>
  useRole().can(least) ? children : null
