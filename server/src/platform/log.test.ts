import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createLog, LOG_LEVELS, readableLine } from './log.ts'

function lines(options: { level: string; readable: boolean }) {
  const written: string[] = []
  const out = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { log: createLog({ ...options, out }), written }
}

const time = new Date(2026, 0, 15, 14, 3, 9).getTime()
const line = (fields: object) => readableLine(JSON.stringify({ level: 'info', time, ...fields }))

describe('a readable line', () => {
  test('of a request contains time, method, path, status, duration and caller', () => {
    const request = {
      method: 'POST',
      url: '/v1/oauth/token',
      status: 200,
      ms: 1.5,
      request_id: 'v-1',
      address: '::1',
      msg: 'request',
    }
    expect(line(request)).toBe('14:03:09  POST /v1/oauth/token  200  1.5 ms')
    expect(line({ ...request, who: 'shop: rewards' })).toBe(
      '14:03:09  POST /v1/oauth/token  200  1.5 ms  shop: rewards',
    )
  })

  test('of anything else contains its message, fields and remedy', () => {
    expect(line({ msg: 'listening', port: 8080, host: 'x' })).toBe('14:03:09  listening  port=8080  host=x')
    expect(line({ level: 'warn', msg: 'slow', do: 'wait', list: [1, 'a'] })).toBe(
      '14:03:09  warn  slow  list=[1,"a"]  → wait',
    )
    expect(line({})).toBe('14:03:09  ')
  })

  test('of an error ends with the stack', () => {
    expect(line({ level: 'error', msg: 'bug', err: { message: 'no', stack: 'Error: no\n    at x' } })).toBe(
      '14:03:09  error  bug\nError: no\n    at x',
    )
    expect(line({ level: 'error', msg: 'bug', err: { message: 'no' } })).toBe('14:03:09  error  bug\nno')
  })

  test('stays one line and plain text, for any values', () => {
    const nasty = 'a\n14:03:09  forged\u001b[2J\u009b\r'
    const shown = [
      line({ msg: 'key', name: nasty }),
      line({ method: 'GET', url: nasty, status: 200, ms: 1, who: nasty }),
      line({ msg: nasty, list: [nasty] }),
    ]
    for (const text of shown) expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  })
})

describe('the log', () => {
  test('is one JSON object per line, with the level as text and the time as a number', () => {
    const { log, written } = lines({ level: 'info', readable: false })
    log.info({ port: 1 }, 'listening')
    log.debug('not seen')
    expect(written).toHaveLength(1)
    expect(JSON.parse(written[0]!)).toEqual({
      level: 'info',
      time: expect.any(Number),
      port: 1,
      msg: 'listening',
    })
  })

  test('shows the cause of an error in both forms', () => {
    const [json, readable] = [
      lines({ level: 'info', readable: false }),
      lines({ level: 'info', readable: true }),
    ]
    for (const { log } of [json, readable]) log.error({ err: new Error('cause') }, 'bug')
    expect(JSON.parse(json.written[0]!).err).toMatchObject({
      message: 'cause',
      stack: expect.stringContaining('log.test.ts'),
    })
    expect(readable.written[0]).toMatch(/error {2}bug\nError: cause\n.*log\.test\.ts/s)
  })

  test.each(LOG_LEVELS)('can be set to %s', (level) =>
    expect(lines({ level, readable: false }).log.level).toBe(level),
  )
})
