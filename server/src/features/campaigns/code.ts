import { Type } from 'typebox'
import type { RandomBytes } from '../../platform/secrets.ts'

/** Codes appear in URL paths, which clients often do not escape. Only characters that need no escaping, and not only dots. */
const CODE_CHARACTERS = 'A-Za-z0-9\\-._~!$*+:@'
const CODE_LENGTH = 64

export const CodeField = Type.String({
  minLength: 1,
  maxLength: CODE_LENGTH,
  pattern: `^(?!\\.+$)[${CODE_CHARACTERS}]+$`,
  'x-says': `must be 1 to ${CODE_LENGTH} letters, digits or -._~!$*+:@, and not only dots`,
})

const part = (maxLength: number) => ({
  maxLength,
  pattern: `^[${CODE_CHARACTERS}]*$`,
  'x-says': `must be at most ${maxLength} letters, digits or -._~!$*+:@`,
})
const nullablePart = (maxLength: number) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], ...part(maxLength) }))

export const CodeConfigField = Type.Object({
  length: Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 32 })),
  charset: nullablePart(100),
  prefix: nullablePart(16),
  postfix: nullablePart(16),
  /** Name of `postfix` in older clients. */
  suffix: nullablePart(16),
  pattern: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 32,
      pattern: `^([${CODE_CHARACTERS}]*#[${CODE_CHARACTERS}#]*)?$`,
      'x-says': 'must be at most 32 letters, digits or -._~!$*+:@, and "#" for each random character',
      description: 'For example `GIFT-####-####`: each `#` becomes a random character.',
    }),
  ),
})

type SentCodeConfig = Partial<
  Record<'charset' | 'prefix' | 'postfix' | 'suffix' | 'pattern', string | null>
> & {
  length?: number | null
}

export interface CodeConfig {
  readonly length: number | null
  readonly charset: string
  readonly prefix: string | null
  readonly postfix: string | null
  /** Each `#` becomes a random character. Overrides `length`. */
  readonly pattern: string | null
}

const ALPHANUMERIC = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** 62^8 codes: guessing one of a million valid codes takes about 200 million tries. */
const DEFAULT_LENGTH = 8

export function codeConfigOf(sent: SentCodeConfig = {}): CodeConfig {
  const pattern = sent.pattern || null
  return {
    length: pattern === null ? (sent.length ?? DEFAULT_LENGTH) : null,
    charset: [...new Set(sent.charset || ALPHANUMERIC)].join(''),
    prefix: sent.prefix || null,
    postfix: sent.postfix || sent.suffix || null,
    pattern,
  }
}

function draw(random: RandomBytes, charset: string): string {
  // Rejects bytes above the largest multiple of the charset's length, which would favour its first characters.
  const fair = 256 - (256 % charset.length)
  for (;;) for (const byte of random(8)) if (byte < fair) return charset[byte % charset.length]!
}

/** Draws a code by the rules of the campaign. Only the store knows whether it is free. */
export function newCode(random: RandomBytes, config: CodeConfig): string {
  const pattern = config.pattern ?? '#'.repeat(config.length!)
  const drawn = pattern.replace(/#/g, () => draw(random, config.charset))
  return `${config.prefix ?? ''}${drawn}${config.postfix ?? ''}`
}
