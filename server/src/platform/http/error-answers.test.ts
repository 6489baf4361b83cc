import { expect, test } from 'vitest'
import { problemOf, type Told } from './error-answers.ts'

const reset = () => Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
const requestThatIs = (complete: boolean) => ({ raw: { complete } }) as never as Told

test('a caller that hangs up in the middle of its body is no bug, so that nobody can fill the log with them', () => {
  expect(problemOf(reset(), requestThatIs(false), {})).toMatchObject({ key: 'invalid_payload', status: 400 })
})

test('a connection that broke while a whole request was worked on is', () => {
  expect(problemOf(reset(), requestThatIs(true), {})).toBe(undefined)
})
