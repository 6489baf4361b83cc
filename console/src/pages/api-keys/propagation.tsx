import type { Schemas } from '../../api/client.ts'

/** How long a change waits for the confirmation of every process. */
export const WAIT_MS = 5_000

interface PropagationProps {
  /** The verb of the sentence: "Refused by 3 of 3 processes". */
  readonly done: string
  readonly propagation: Schemas['ApiKeyChanged']['propagation']
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** How far a change has spread: in sum, and one line per process. */
export function Propagation({ done, propagation }: PropagationProps) {
  const { processes, confirmed, after_ms, by_process } = propagation
  return (
    <>
      <p>
        <strong>
          {done} by {confirmed} of {processes} {processes === 1 ? 'process' : 'processes'} after{' '}
          {seconds(after_ms)}.
        </strong>
      </p>
      <ul className="plain mono">
        {by_process.map(({ id, host, pid, after_ms: own }) => (
          <li key={id}>
            {host} pid {pid}: {own === null ? 'not yet' : seconds(own)}
          </li>
        ))}
      </ul>
      {confirmed < processes && (
        <p className="tone-warn">A process that cannot reach the store stops accepting tokens within 30 s.</p>
      )}
    </>
  )
}
