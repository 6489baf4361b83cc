import { type ReactNode, useId } from 'react'

interface CardProps {
  readonly title?: ReactNode
  /** To the right of the title. */
  readonly aside?: ReactNode
  readonly children: ReactNode
  /** Without inner space, for tables. */
  readonly flush?: boolean
  /** For links to this card. */
  readonly id?: string
}

export function Card({ title, aside, children, flush = false, id }: CardProps) {
  const titleId = useId()
  return (
    <section
      className={flush ? 'card flush' : 'card'}
      {...(id && { id })}
      {...(title ? { 'aria-labelledby': titleId } : {})}
    >
      {(title || aside) && (
        <div className="card-head">
          {title && <h2 id={titleId}>{title}</h2>}
          {aside && <div className="row">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  )
}
