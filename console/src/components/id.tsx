import { Link, type LinkProps } from '@tanstack/react-router'
import { CopyButton } from './copy-button.tsx'

interface IdProps {
  readonly value: string
  /** Where the id leads. */
  readonly link?: LinkProps
  /** Shows only the start, for narrow columns. */
  readonly short?: boolean
}

const MAX_SHORT = 14

/** An id in monospace, with a button to copy it. */
export function Id({ value, link, short = false }: IdProps) {
  const shown = short && value.length > MAX_SHORT + 1 ? `${value.slice(0, MAX_SHORT)}…` : value
  return (
    <span className="id">
      {link ? (
        <Link {...link} className="mono" title={value}>
          {shown}
        </Link>
      ) : (
        <span className="mono" title={value}>
          {shown}
        </span>
      )}
      <CopyButton text={value} label={`Copy ${value}`} iconOnly />
    </span>
  )
}
