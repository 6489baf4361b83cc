import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CircleUser } from 'lucide-react'
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components'
import { api, read } from '../api/client.ts'
import { Button } from '../components/button.tsx'
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
    if (key !== 'sign-out') return
    await read(api.DELETE('/sessions/current')).catch(() => undefined)
    await client.resetQueries()
  }

  return (
    <MenuTrigger>
      <Button aria-label={`Account of ${operator.name}`}>
        <CircleUser size={16} aria-hidden />
      </Button>
      <Popover className="popover">
        <Menu className="menu" onAction={(key) => void act(String(key))}>
          <MenuSection selectionMode="single" selectedKeys={[chosenTheme()]}>
            <Header>
              {operator.name}, {role}
            </Header>
            {THEMES.map(([theme, name]) => (
              <MenuItem key={theme} id={theme}>
                {name}
              </MenuItem>
            ))}
          </MenuSection>
          <MenuSection>
            <MenuItem id="sessions">Sessions</MenuItem>
            <MenuItem id="docs" href="/docs" target="_blank">
              Documentation
            </MenuItem>
            <MenuItem id="sign-out">Sign out</MenuItem>
          </MenuSection>
        </Menu>
      </Popover>
    </MenuTrigger>
  )
}
