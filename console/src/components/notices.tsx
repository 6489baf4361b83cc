import type { ReactNode } from 'react'
import { ApiProblem } from '../api/client.ts'
import { Button } from './button.tsx'
import { CodeBlock } from './code-block.tsx'

/** Grey bars in place of text that is being loaded. */
export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <div className="skeleton" aria-hidden>
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
      <span key={line} />
    ))}
  </div>
)

export interface EmptyStateProps {
  /** Why there is nothing, in one sentence. */
  readonly sentence: string
  /** The command that changes that. */
  readonly command?: string
  readonly action?: ReactNode | undefined
}

export const EmptyState = ({ sentence, command, action }: EmptyStateProps) => (
  <div className="empty">
    <p>{sentence}</p>
    {command && <CodeBlock text={command} />}
    {action}
  </div>
)

/** An error with its remedy, and a button to try again. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ApiProblem ? error : undefined
  return (
    <div className="error" role="alert">
      <p>
        <strong>{problem?.message ?? 'The server could not be reached.'}</strong>
      </p>
      {problem?.details && <p>{problem.details}</p>}
      {problem && (
        <p className="dim small">
          {problem.key}
          {problem.requestId && <> · {problem.requestId}</>}
        </p>
      )}
      {onRetry && <Button onPress={onRetry}>Try again</Button>}
    </div>
  )
}
