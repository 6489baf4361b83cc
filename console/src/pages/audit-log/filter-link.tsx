import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface FilterLinkProps {
  readonly name: 'action' | 'actor' | 'subject'
  readonly value: string
  readonly title?: string
  readonly children: ReactNode
}

/** A value of the log that narrows the log to itself. */
export const FilterLink = ({ name, value, title, children }: FilterLinkProps) => (
  <Link
    to="."
    search={
      ((current: object) => ({ ...current, [name]: value, page: undefined, cursor: undefined })) as never
    }
    className="filter-link"
    title={title}
  >
    {children}
  </Link>
)
