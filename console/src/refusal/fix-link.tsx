import { Link } from '@tanstack/react-router'
import { useRole } from '../session/session.tsx'
import { type Failure, fixOf } from './fix.ts'

interface FixLinkProps {
  readonly failure: Failure
  /** Key of the error, whose documentation is the answer where only the client can change something. */
  readonly errorKey: string
  readonly isButton?: boolean
}

/** One click from the reason of a refusal to the place that fixes it. */
export function FixLink({ failure, errorKey, isButton = false }: FixLinkProps) {
  const { can } = useRole()
  const fix = fixOf(failure, can)
  const className = isButton ? 'button' : 'nowrap'
  if (fix)
    return (
      <Link {...fix.link} className={className}>
        {fix.label}
      </Link>
    )
  return (
    <a
      href={`/docs/errors/${encodeURIComponent(errorKey)}`}
      target="_blank"
      rel="noreferrer"
      className={className}
    >
      Read about it
    </a>
  )
}
