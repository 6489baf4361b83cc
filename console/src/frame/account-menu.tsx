import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleUser } from 'lucide-react'
import { api, read } from '../api/client.ts'
import { MenuButton } from '../components/menu-button.tsx'
import { useSession } from '../session/session.tsx'
import { applyTheme, chosenTheme, type Theme, useTheme } from '../styles/theme.ts'

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** The signed-in operator, the theme, and signing out. */
export function AccountMenu() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { operator, role } = useSession()
  useTheme()

  async function act(key: string) {
    if (THEMES.some(([theme]) => theme === key)) return applyTheme(key as Theme)
    if (key === 'sessions') return navigate({ to: '/sessions' })
    if (key === 'docs') return void open('/docs', '_blank', 'noopener')
    if (key !== 'sign-out') return
    await read(api.DELETE('/sessions/current')).catch(() => undefined)
    await client.resetQueries()
  }

  return (
    <MenuButton
      label={`Account of ${operator.name}`}
      header={`${operator.name}, ${role}`}
      groups={[
        THEMES.map(([id, title]) => ({ id, title, isChecked: id === chosenTheme() })),
        [
          { id: 'sessions', title: 'Sessions' },
          { id: 'docs', title: 'Documentation' },
          { id: 'sign-out', title: 'Sign out' },
        ],
      ]}
      onAction={(key) => void act(key)}
    >
      <CircleUser size={16} aria-hidden />
    </MenuButton>
  )
}
