import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type Rgb = readonly number[]
type Matrix = readonly Rgb[]

/** Machado, Oliveira and Fernandes (2009), in linear RGB: full colour vision, and the three kinds of dichromacy. */
const VISION: Readonly<Record<string, Matrix>> = {
  full: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}
/** To the cone responses of OKLab, and from their cube roots to its axes. */
const TO_CONES: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
]
const TO_LAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
]

const times = (matrix: Matrix, values: Rgb): number[] =>
  matrix.map((row) => row.reduce((sum, factor, i) => sum + factor * values[i]!, 0))

const linear = (hex: string): number[] =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })

/** The colour as this vision sees it, in OKLab, where a distance of 0.02 is just noticeable. */
function seen(hex: string, vision: Matrix): number[] {
  const light = times(vision, linear(hex)).map((value) => Math.min(1, Math.max(0, value)))
  return times(TO_LAB, times(TO_CONES, light).map(Math.cbrt))
}

const luminance = (hex: string): number => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0]!

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}

const tokens = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')

/** Both values of a custom property: in the light theme, and in the dark one. */
function colorsOf(name: string): [string, string] {
  const [, light = '', dark = ''] =
    new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens) ?? []
  return [light, dark]
}

const SERIES = [1, 2, 3, 4, 5].map((number) => `series-${number}`)
const MIN_DISTANCE = 0.1
const MIN_CONTRAST = 2.6

test.each([
  ['light', 0],
  ['dark', 1],
] as const)('colours of a chart stay apart without colour vision, %s', (_, theme) => {
  const colors = [...SERIES, 'series-other'].map((name) => colorsOf(name)[theme])
  for (const [vision, matrix] of Object.entries(VISION))
    for (const [i, color] of colors.entries())
      for (const other of colors.slice(i + 1)) {
        const [a, b] = [seen(color, matrix), seen(other, matrix)]
        const distance = Math.hypot(...a.map((value, axis) => value - b[axis]!))
        expect(distance, `${vision}: ${color} and ${other}`).toBeGreaterThan(MIN_DISTANCE)
      }
})

test.each([
  ['light', 0],
  ['dark', 1],
] as const)('colours of a chart stand out from the card and are not those of a state, %s', (_, theme) => {
  const card = colorsOf('card')[theme]
  for (const name of SERIES) {
    const color = colorsOf(name)[theme]
    expect(contrast(color, card), name).toBeGreaterThan(MIN_CONTRAST)
    for (const state of ['ok', 'warn', 'bad']) {
      const [a, b] = [seen(color, VISION.full!), seen(colorsOf(state)[theme], VISION.full!)]
      expect(Math.hypot(...a.map((value, axis) => value - b[axis]!)), `${name} and ${state}`).toBeGreaterThan(
        MIN_DISTANCE,
      )
    }
  }
})
