import { type ReactNode, useEffect } from 'react'
import { curlText, type ShownRequest } from '../api/request-text.ts'
import { CopyButton } from './copy-button.tsx'

interface PageHeaderProps {
  readonly title: ReactNode
  /** Title of the browser tab, if `title` is not text. */
  readonly tabTitle?: string
  readonly subtitle?: ReactNode
  /** The command that shows the same. */
  readonly cli?: string
  /** The request that shows the same. */
  readonly request?: ShownRequest
  readonly actions?: ReactNode
}

/** Every view starts with one: what it shows, what can be done here, and the same without the console. */
export function PageHeader({ title, tabTitle, subtitle, cli, request, actions }: PageHeaderProps) {
  const name = tabTitle ?? (typeof title === 'string' ? title : 'Console')
  useEffect(() => {
    document.title = `${name} · Jeton`
  }, [name])
  return (
    <header className="page-header">
      <div>
        <h1>{title}</h1>
        {subtitle && <p className="dim">{subtitle}</p>}
      </div>
      <div className="row">
        {cli && <CopyButton text={cli} label="Copy as CLI" look="quiet" />}
        {request && <CopyButton text={curlText(request)} label="Copy as curl" look="quiet" />}
        {actions}
      </div>
    </header>
  )
}
