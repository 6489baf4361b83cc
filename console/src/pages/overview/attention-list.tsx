import type { Schemas } from '../../api/client.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { useProjects } from '../../frame/project-switcher.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { AttentionAction } from './attention-action.tsx'

type Entry = Schemas['Attention']

const TONES = { error: 'bad', warning: 'warn', info: 'neutral' } as const
const toneOf = (severity: string) => TONES[severity as keyof typeof TONES] ?? 'neutral'

/** "destination.failing" as two words. */
const titleOf = (kind: string): string => kind.replaceAll(/[._]/g, ' ')

/** Problems, the worst first, each with one action. */
export function AttentionList({ entries }: { entries: readonly Entry[] }) {
  const current = useProjectId()
  const projects = useProjects().data?.data ?? []
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id
  return (
    <ul className="attention">
      {entries.map((entry) => {
        const { kind, severity, message, since, subject } = entry
        const elsewhere =
          subject.project_id !== null && subject.project_id !== current ? subject.project_id : null
        return (
          <li key={`${kind} ${subject.id}`}>
            <StateBadge tone={toneOf(severity)}>{titleOf(kind)}</StateBadge>
            <div>
              <p>{message}</p>
              <p className="dim small">
                {elsewhere && <>Project {nameOf(elsewhere)}. </>}
                {since && (
                  <>
                    Since <RelativeTime at={since} />.
                  </>
                )}
              </p>
            </div>
            <AttentionAction entry={entry} />
          </li>
        )
      })}
    </ul>
  )
}
