import { readFileSync, writeFileSync } from 'node:fs'
import { pageText, type Report, readmeText } from './report.ts'

const START = '<!-- benchmarks: written by npm run bench -- --publish -->'
const END = '<!-- end of benchmarks -->'

const atRoot = (path: string): URL => new URL(`../${path}`, import.meta.url)

function replaceBetweenMarkers(path: string, replacement: string): string {
  const text = readFileSync(atRoot(path), 'utf8')
  const [start, end] = [text.indexOf(START), text.indexOf(END)]
  if (start < 0 || end < start) throw new Error(`${path} has no markers: ${START} … ${END}`)
  return `${text.slice(0, start + START.length)}\n\n${replacement}\n\n${text.slice(end)}`
}

/** The documents that show a run, with their text after it is published. */
export const documentsWith = (report: Report): Record<string, string> => ({
  'docs/benchmarks.md': replaceBetweenMarkers('docs/benchmarks.md', pageText(report)),
  'README.md': replaceBetweenMarkers('README.md', readmeText(report)),
})

/** Writes the page, its chart, the table of the README and the figures, all from one run. */
export async function publish(report: Report): Promise<void> {
  // Only here, since tests check the documents where the packages of the benchmarks are not installed.
  const { drawChart } = await import('./chart.ts')
  const files = {
    ...documentsWith(report),
    'docs/diagrams/benchmarks.svg': await drawChart(report),
    'bench/results.json': `${JSON.stringify(report, null, 2)}\n`,
  }
  for (const [path, text] of Object.entries(files)) writeFileSync(atRoot(path), text)
}
