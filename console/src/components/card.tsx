import { type ReactNode, useId } from 'react'

interface CardProps {
  readonly title?: ReactNode
  /** To the right of the title. */
  readonly aside?: ReactNode
  readonly children: ReactNode
  /** Without inner space, for tables. */
  readonly flush?: boolean
}

export function Card({ title, aside, children, flush = false }: CardProps) {
  const id = useId()
  return (
    <section className={flush ? 'card flush' : 'card'} {...(title ? { 'aria-labelledby': id } : {})}>
      {(title || aside) && (
        <div className="card-head">
          {title && <h2 id={id}>{title}</h2>}
          {aside && <div className="row">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  )
}
