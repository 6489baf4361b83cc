/// <reference path="./packages.d.ts" />
import { parse, View } from 'vega'
import { compile } from 'vega-lite'
import { BARE, type Report, withBareRows } from './report.ts'

const TITLES: Readonly<Record<string, string>> = {
  issue: 'Tokens issued per second',
  introspect: 'Introspections per second',
}

const groupOf = (subject: string): string =>
  subject === BARE ? 'bare' : subject.startsWith('Jeton') ? 'Jeton' : 'peer'

const valuesOf = (report: Report, wanted: string): object[] =>
  withBareRows(report.rows).flatMap(({ scenario, subject, own }) =>
    own && scenario === wanted ? [{ subject, group: groupOf(subject), rate: Math.round(own.perSecond) }] : [],
  )

const y = {
  field: 'subject',
  type: 'nominal',
  sort: null,
  title: null,
  axis: { labelLimit: 0, ticks: false },
}
const x = { field: 'rate', type: 'quantitative', title: null, axis: null }
const color = {
  ...{ field: 'group', type: 'nominal', legend: null },
  scale: { domain: ['bare', 'Jeton', 'peer'], range: ['#9aa4af', '#3d82d1', '#c77d3a'] },
}
const text = { field: 'rate', type: 'quantitative', format: ',' }

const barsOf = (report: Report, scenario: string): object => ({
  title: { text: TITLES[scenario], anchor: 'start' },
  data: { values: valuesOf(report, scenario) },
  width: 420,
  height: { step: 22 },
  encoding: { y, x },
  layer: [
    { mark: { type: 'bar', height: { band: 0.7 } }, encoding: { color } },
    { mark: { type: 'text', align: 'left', dx: 4 }, encoding: { text } },
  ],
})

const specOf = (report: Report): object => ({
  vconcat: Object.keys(TITLES).map((scenario) => barsOf(report, scenario)),
  background: '#ffffff',
  config: { font: 'sans-serif', view: { stroke: null }, axis: { domain: false, labelFontSize: 12 } },
})

/** The chart has its own background, so that it is readable on any page. */
const DARK = `<style>@media (prefers-color-scheme: dark) {
  svg > rect { fill: #0d1117 }
  svg text { fill: #e6edf3 }
}</style>`

/** Draws the rates of issuing and introspection as an SVG. */
export async function drawChart(report: Report): Promise<string> {
  const view = new View(parse(compile(specOf(report)).spec), { renderer: 'none' })
  const svg = await view.toSVG()
  return `${svg.replace(/(<svg[^>]*>)/, `$1${DARK}`)}\n`
}
