import { expect, test } from 'vitest'
import { type ErrorContext, problemOf } from './errors.ts'

const reset = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
const requestThatIs = (complete: boolean) => ({ raw: { complete } }) as never as ErrorContext

test('a client that disconnects within its body is not logged as a bug', () => {
  expect(problemOf(reset(), requestThatIs(false), {})).toMatchObject({ key: 'invalid_payload', status: 400 })
})

test('a connection error after the whole request has arrived is a bug', () => {
  expect(problemOf(reset(), requestThatIs(true), {})).toBe(undefined)
})
