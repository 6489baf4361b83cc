interface BarsProps {
  readonly bars: readonly { readonly label: string; readonly value: number }[]
  readonly label: string
  /** Below the first and the last bar. */
  readonly ends?: readonly [string, string]
}

/** A few labelled bars: counts per minute, per status code. Hover shows the figure. */
export function Bars({ bars, label, ends }: BarsProps) {
  const max = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <figure className="bars">
      <div role="img" aria-label={label}>
        {bars.map((bar) => (
          <span key={bar.label} title={`${bar.label}: ${bar.value}`}>
            <i style={{ blockSize: `${(bar.value / max) * 100}%` }} />
          </span>
        ))}
      </div>
      {ends && (
        <figcaption className="row apart dim small">
          <span>{ends[0]}</span>
          <span>{ends[1]}</span>
        </figcaption>
      )}
    </figure>
  )
}
