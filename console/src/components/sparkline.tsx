interface SparklineProps {
  readonly values: readonly (number | null)[]
  /** Read by screen readers, and shown on hover. */
  readonly label: string
}

const [WIDTH, HEIGHT] = [96, 20]

/** A small line without axes, for table rows. */
export function Sparkline({ values, label }: SparklineProps) {
  const max = Math.max(1, ...values.map((value) => value ?? 0))
  const step = WIDTH / Math.max(1, values.length - 1)
  const y = (value: number | null) => HEIGHT - 1 - ((value ?? 0) / max) * (HEIGHT - 2)
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  return (
    <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img">
      <title>{label}</title>
      <polygon points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} />
      <polyline points={points} />
    </svg>
  )
}
