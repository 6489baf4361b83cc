import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useConnection } from '../api/connection.ts'
import { Button } from '../components/button.tsx'
import { ReceiptDialog } from '../components/receipt-dialog.tsx'
import { SearchField } from '../search/search-field.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Coin } from './coin.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { Navigation } from './navigation.tsx'
import { ProjectSwitcher, useProjects } from './project-switcher.tsx'

/** Navigation, top bar and the page. On narrow screens the navigation opens from a button. */
export function Frame() {
  const { projectId: shown } = useParams({ strict: false }) as { projectId?: string }
  // Pages of the service keep the project that was shown before, or show the first one.
  const [first] = useProjects().data?.data ?? []
  const [lastProject, setLastProject] = useState(shown)
  if (shown !== undefined && shown !== lastProject) setLastProject(shown)
  const projectId = shown ?? lastProject ?? first?.id
  const { isReachable } = useConnection()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [isOpen, setOpen] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes when another page is shown
  useEffect(() => setOpen(false), [path])
  return (
    <div className={isOpen ? 'frame open' : 'frame'}>
      <a href="#main" className="skip">
        Skip to content
      </a>
      <aside>
        <Link to="/" className="brand">
          <Coin /> Jeton
        </Link>
        <Navigation projectId={projectId} />
      </aside>
      <div className="top">
        <span className="only-narrow">
          <Button aria-label="Navigation" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
            <MenuIcon size={16} aria-hidden />
          </Button>
        </span>
        <ProjectSwitcher projectId={projectId} />
        <SearchField projectId={projectId} />
        <AccountMenu />
      </div>
      <main id="main" className={isReachable ? undefined : 'stale'} tabIndex={-1}>
        <ConnectionBanner />
        <Outlet />
      </main>
      <ReceiptDialog />
    </div>
  )
}
