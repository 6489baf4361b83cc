/** Bars that a person can read, as an SVG without scripts, fonts or colours of its own beyond two. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly shown: string
  readonly ours: boolean
}

const WIDTH = 760
const LABEL_WIDTH = 250
const VALUE_WIDTH = 90
const ROW_HEIGHT = 26

const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

export function barPlot(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value), 1)
  const room = WIDTH - LABEL_WIDTH - VALUE_WIDTH
  const rows = bars.map(({ label, value, shown, ours }, i) => {
    const y = 40 + i * ROW_HEIGHT
    const width = Math.max(1, Math.round((value / most) * room))
    return [
      `<text x="${LABEL_WIDTH - 8}" y="${y + 15}" text-anchor="end">${escaped(label)}</text>`,
      `<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${width}" height="16" fill="${ours ? '#2563a8' : '#a8b3bf'}"/>`,
      `<text x="${LABEL_WIDTH + width + 6}" y="${y + 15}">${escaped(shown)}</text>`,
    ].join('\n')
  })
  const height = 52 + bars.length * ROW_HEIGHT
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" role="img" aria-label="${escaped(title)}">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="22" font-size="15" font-weight="bold">${escaped(title)}</text>
${rows.join('\n')}
</svg>
`
}
