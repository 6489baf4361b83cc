import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** A line stays one line, and what a caller sent cannot steer the terminal. */
const plainText = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

const clockTime = (ms: number): string => new Date(ms).toTimeString().slice(0, 8)

/** One readable line for a terminal; whatever is not a known field follows as `name=value`. */
export function readableLine(json: string): string {
  const {
    level,
    time,
    pid,
    hostname,
    msg,
    method,
    url,
    status,
    ms,
    who,
    do: remedy,
    err,
    ...rest
  } = JSON.parse(json)
  const head = `${clockTime(time)}  `
  if (method)
    return plainText(
      `${head}${method} ${url}  ${status}  ${ms} ms${who ? `  ${who}` : ''}${rest.reason ? `  ${rest.reason}` : ''}`,
    )
  const extras = Object.entries(rest).map(
    ([name, value]) => `  ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const label = level === 'info' ? '' : `${level}  `
  const line = plainText(`${head}${label}${msg ?? ''}${extras.join('')}${remedy ? `  → ${remedy}` : ''}`)
  return err ? `${line}\n${err.stack ?? err.message}` : line
}

const readable = (out: NodeJS.WritableStream): DestinationStream => ({
  write: (json: string) => void out.write(readableLine(json) + '\n'),
})

/**
 * JSON on standard output, or readable lines in a terminal. What is logged is named field by field where it is
 * logged: no request, header or body ever reaches a log whole, so no secret can.
 */
export function createLog(options: { level: string; readable: boolean; out?: NodeJS.WritableStream }): Log {
  const out = options.out ?? process.stdout
  const destination = options.readable ? readable(out) : out
  return pino(
    {
      level: options.level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err },
    },
    destination as DestinationStream,
  )
}
