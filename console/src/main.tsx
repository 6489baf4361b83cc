import './session/login-code.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/frame.css'
import './styles/components.css'
import './styles/charts.css'
import './styles/pages.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { I18nProvider } from 'react-aria-components'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/query.ts'
import { router } from './routing/router.ts'
import { applyTheme, chosenTheme } from './styles/theme.ts'

applyTheme(chosenTheme())
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <I18nProvider locale="en-US">
        <RouterProvider router={router} />
      </I18nProvider>
    </QueryClientProvider>
  </StrictMode>,
)
