import type { RefObject } from 'react'
import type uPlot from 'uplot'
import { countText, shortCount } from './number-text.ts'
import { clockTime, tickText } from './time-text.ts'

export interface ChartSeries {
  readonly label: string
  /** A custom property, such as `--series-1`. */
  readonly color: string
  readonly values: readonly (number | null)[]
}

export interface TimeChartProps {
  /** Unix seconds, the same for every series. */
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  /** Areas on top of each other instead of lines. */
  readonly isStacked?: boolean
  /** A dashed line, such as the limit of tokens. */
  readonly limit?: { readonly value: number; readonly label: string }
  readonly height?: number
  /** Read by screen readers: what the chart shows, with its most important figure. */
  readonly label: string
  readonly format?: (value: number) => string
}

/** The canvas does not know custom properties, so they are resolved where the chart is. */
function colorsAt(element: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = element.ownerDocument.createElement('span')
    probe.style.color = `var(${name})`
    element.append(probe)
    const color = getComputedStyle(probe).color
    probe.remove()
    return color
  }
}

const FONT = '11px system-ui, sans-serif'

/** The text that follows the pointer: the time and each value. */
function tooltip(latest: RefObject<TimeChartProps>): uPlot.Plugin {
  const box = document.createElement('div')
  box.className = 'chart-tooltip'
  return {
    hooks: {
      init: (plot) => void plot.over.append(box),
      setCursor: (plot) => {
        const { times, series, format = countText } = latest.current
        const { idx, left = 0 } = plot.cursor
        const at = idx === null || idx === undefined ? undefined : times[idx]
        box.hidden = at === undefined
        if (at === undefined || typeof idx !== 'number') return
        const values = series.map(({ label, values: own }) => {
          const value = own[idx]
          return `${label}: ${value === null || value === undefined ? 'none' : format(value)}`
        })
        box.textContent = [clockTime(at * 1000), ...values].join('\n')
        const isRight = left > plot.over.clientWidth / 2
        box.style.insetInlineStart = isRight ? 'auto' : `${left + 12}px`
        box.style.insetInlineEnd = isRight ? `${plot.over.clientWidth - left + 12}px` : 'auto'
      },
    },
  }
}

function limitLine({ limit }: TimeChartProps, color: string): uPlot.Plugin {
  if (!limit) return { hooks: {} }
  return {
    hooks: {
      draw: ({ ctx, bbox, valToPos }) => {
        const y = valToPos(limit.value, 'y', true)
        if (y < bbox.top - 1) return
        const ratio = devicePixelRatio
        ctx.save()
        ctx.strokeStyle = color
        ctx.fillStyle = color
        ctx.lineWidth = ratio
        ctx.setLineDash([4 * ratio, 4 * ratio])
        ctx.beginPath()
        ctx.moveTo(bbox.left, y)
        ctx.lineTo(bbox.left + bbox.width, y)
        ctx.stroke()
        ctx.font = FONT.replace('11px', `${11 * ratio}px`)
        ctx.textAlign = 'right'
        ctx.textBaseline = 'bottom'
        ctx.fillText(limit.label, bbox.left + bbox.width, y - 2 * ratio)
        ctx.restore()
      },
    },
  }
}

/** Wide enough for the longest text of the axis. */
const axisWidth = (_: uPlot, texts: readonly string[] | null): number =>
  Math.max(50, ...(texts ?? []).map((text) => 12 + text.length * 6.5))

export function chartOptions(latest: RefObject<TimeChartProps>, element: HTMLElement): uPlot.Options {
  const { series, isStacked = false, limit, height = 160, format = shortCount } = latest.current
  const color = colorsAt(element)
  const axis = { stroke: color('--dim'), font: FONT, ticks: { show: false } }
  const grid = { stroke: color('--line'), width: 1 }
  const drawn = isStacked ? series.toReversed() : series
  return {
    width: element.clientWidth || 400,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isStacked } },
    // Half of the last label of the time is right of its tick.
    padding: [10, 20, 0, 0],
    scales: {
      y: {
        range: (_, __, max) => [0, Math.max(1, (limit?.value ?? 0) * 1.08, (max ?? 0) * 1.08)],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 70,
        values: (_, ticks, __, ___, step) => ticks.map((at) => tickText(at * 1000, step)),
      },
      {
        ...axis,
        grid,
        size: axisWidth,
        space: 34,
        values: (_, ticks) => ticks.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...drawn.map((one) => ({
        label: one.label,
        // A line in the colour of the ground keeps areas apart.
        stroke: color(isStacked ? '--card' : one.color),
        width: isStacked ? 0.75 : 1.5,
        points: { show: false },
        ...(isStacked && { fill: color(one.color) }),
      })),
    ],
    plugins: [tooltip(latest), limitLine(latest.current, color('--bad'))],
  }
}
