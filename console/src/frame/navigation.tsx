import { Link } from '@tanstack/react-router'
import {
  Activity,
  ArrowLeftRight,
  Coins,
  Gauge,
  KeyRound,
  type LucideIcon,
  ScrollText,
  Send,
  Server,
  ShieldCheck,
  SlidersHorizontal,
  UserRound,
  Users,
} from 'lucide-react'
import type { Schemas } from '../api/client.ts'
import { useRole } from '../session/session.tsx'
import { useAttention } from './attention.ts'

interface Entry {
  readonly title: string
  readonly to: string
  readonly Icon: LucideIcon
  /** Kinds of attention that are counted here. */
  readonly counts?: RegExp
}

const OF_PROJECT: readonly Entry[] = [
  { title: 'Overview', to: '/projects/$projectId/overview', Icon: Gauge },
  { title: 'API keys', to: '/projects/$projectId/api-keys', Icon: KeyRound, counts: /^(key|secret)\./ },
  { title: 'Tokens', to: '/projects/$projectId/tokens', Icon: Coins, counts: /^tokens\./ },
  { title: 'Access', to: '/projects/$projectId/access', Icon: ShieldCheck, counts: /^refusals\./ },
  { title: 'Events', to: '/projects/$projectId/events', Icon: Activity },
  { title: 'Deliveries', to: '/projects/$projectId/deliveries', Icon: Send, counts: /^deliveries\./ },
  {
    title: 'Destinations',
    to: '/projects/$projectId/destinations',
    Icon: ArrowLeftRight,
    counts: /^destination\./,
  },
  { title: 'Customers', to: '/projects/$projectId/customers', Icon: UserRound },
  { title: 'Audit log', to: '/projects/$projectId/audit-log', Icon: ScrollText },
]
const SETTINGS: Entry = { title: 'Settings', to: '/projects/$projectId/settings', Icon: SlidersHorizontal }
const SYSTEM: Entry = {
  title: 'System',
  to: '/system',
  Icon: Server,
  counts: /^(process|store|proxy|sample|encryption_key)\./,
}
const OPERATORS: Entry = { title: 'Operators', to: '/operators', Icon: Users }

const isOf = (projectId: string | undefined) => (entry: Schemas['Attention']) =>
  entry.subject.project_id === null || entry.subject.project_id === projectId

export function Navigation({ projectId }: { projectId: string | undefined }) {
  const { can, seesService } = useRole()
  const found = (useAttention(projectId).data?.data ?? []).filter(isOf(projectId))
  const item = (entry: Entry) => (
    <NavigationLink
      key={entry.title}
      entry={entry}
      projectId={projectId}
      found={found.filter(({ kind, severity }) => severity !== 'info' && entry.counts?.test(kind))}
    />
  )
  return (
    <nav aria-label="Main" className="navigation">
      {projectId && OF_PROJECT.map(item)}
      <span className="gap" />
      {seesService && item(SYSTEM)}
      {can('admin') && item(OPERATORS)}
      {projectId && item(SETTINGS)}
    </nav>
  )
}

interface LinkProps {
  readonly entry: Entry
  readonly projectId: string | undefined
  readonly found: readonly Schemas['Attention'][]
}

function NavigationLink({ entry: { title, to, Icon }, projectId, found }: LinkProps) {
  const tone = found.some(({ severity }) => severity === 'error') ? 'bad' : 'warn'
  return (
    <Link
      to={to}
      params={{ projectId } as never}
      className="navigation-link"
      activeProps={{ 'aria-current': 'page' }}
    >
      <Icon size={15} aria-hidden />
      <span>{title}</span>
      {found.length > 0 && (
        <span className={`count ${tone}`}>
          {found.length}
          <span className="visually-hidden"> to look at</span>
        </span>
      )}
    </Link>
  )
}
