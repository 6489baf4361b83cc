/** Lines that a person can read, one field above the other, as an SVG without scripts or fonts of its own. */
export interface Line {
  readonly label: string
  readonly colour: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** Everything in a field has the same measure, which begins at nothing. */
export interface Field {
  readonly name: string
  readonly lines: readonly Line[]
}

const WIDTH = 760
const FIELD_HEIGHT = 190
const TOP = 34
const LEFT = 60
const RIGHT = 110
const ROOM = { x: WIDTH - LEFT - RIGHT, y: 130 }

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)

function drawField({ name, lines }: Field, top: number, mostX: number): string {
  const mostY = Math.max(1, ...lines.flatMap(({ points }) => points.map(([, y]) => y)))
  const place = ([x, y]: readonly [number, number]) =>
    [LEFT + (x / mostX) * ROOM.x, top + 24 + (1 - y / mostY) * ROOM.y].map((one) => one.toFixed(1)).join(',')
  const bottom = top + 24 + ROOM.y
  const text = (x: number, y: number, said: string, more = '') =>
    `<text x="${x}" y="${y}"${more}>${escaped(said)}</text>`
  const end = ' text-anchor="end"'
  return [
    text(LEFT, top + 12, name),
    `<path d="M${LEFT},${top + 24}V${bottom}H${LEFT + ROOM.x}" fill="none" stroke="#888888"/>`,
    text(LEFT - 6, top + 30, whole.format(mostY), end),
    text(LEFT - 6, bottom, '0', end),
    text(LEFT + ROOM.x, bottom + 16, `${whole.format(mostX)} tokens issued`, end),
    ...lines.flatMap(({ label, colour, points }, i) => [
      `<polyline points="${points.map(place).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      text(LEFT + ROOM.x + 8, top + 36 + i * 18, label, ` fill="${colour}"`),
    ]),
  ].join('\n')
}

export function linePlot(title: string, fields: readonly Field[]): string {
  const mostX = Math.max(
    1,
    ...fields.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(([x]) => x))),
  )
  const drawn = fields.map((field, i) => drawField(field, TOP + i * FIELD_HEIGHT, mostX))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${TOP + fields.length * FIELD_HEIGHT}" font-family="sans-serif" font-size="13" role="img" aria-label="${escaped(title)}">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="22" font-size="15" font-weight="bold">${escaped(title)}</text>
${drawn.join('\n')}
</svg>
`
}
