export interface StripCell {
  /** Shown on hover: the time and the counts. */
  readonly label: string
  readonly tone: 'ok' | 'warn' | 'bad' | 'none'
}

/** One cell per hour or minute: ok, warn (some retried), bad (failed), or nothing. */
export const Strip = ({ cells, label }: { cells: readonly StripCell[]; label: string }) => (
  <span className="strip" role="img" aria-label={label}>
    {cells.map((cell) => (
      <span key={cell.label} className={cell.tone} title={cell.label} />
    ))}
  </span>
)
