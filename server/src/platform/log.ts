import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Escapes control characters, so that a line stays one line and a client cannot control the terminal. */
const plainText = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

const clockTime = (ms: number): string => new Date(ms).toTimeString().slice(0, 8)

/** Formats one line for a terminal. Unknown fields follow as `name=value`. */
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
 * Logs JSON to standard output, or readable lines to a terminal. Callers list every field that they log: no request, header
 * or body reaches a log as a whole, so no secret can.
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
