import { expect, test } from 'vitest'
import { remedyText, sentenceText } from './sentence-text.ts'

test.each([
  [
    'Unblock it: jeton key unblock <key>. Its old tokens stay invalid.',
    'Unblock it. Its old tokens stay invalid.',
  ],
  ['Otherwise allow it: jeton key update <key> --ip-whitelist …', 'Otherwise allow it.'],
  ['Check X-App-Id against: jeton key list', 'Check X-App-Id against: jeton key list'],
  ['The client must request a new token.', 'The client must request a new token.'],
])('a remedy has no command with a placeholder: %s', (remedy, text) => {
  expect(remedyText(remedy)).toBe(text)
})

test('a result of a check starts like a sentence, unless it starts with a path or a header', () => {
  expect(
    ['the key is active', '/v1/x requires "x"', 'X-Management-Id was not sent'].map(sentenceText),
  ).toEqual(['The key is active', '/v1/x requires "x"', 'X-Management-Id was not sent'])
})
