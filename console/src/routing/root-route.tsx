import { createRootRoute } from '@tanstack/react-router'
import { ErrorState } from '../components/notices.tsx'
import { Frame } from '../frame/frame.tsx'
import { SessionGate } from '../session/session-gate.tsx'

export const rootRoute = createRootRoute({
  component: () => (
    <SessionGate>
      <Frame />
    </SessionGate>
  ),
  notFoundComponent: () => <p>There is no such page.</p>,
  errorComponent: ({ error, reset }) => <ErrorState error={error} onRetry={reset} />,
})
