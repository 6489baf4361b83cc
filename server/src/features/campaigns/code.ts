import { Type } from 'typebox'
import type { RandomBytes } from '../../platform/secrets.ts'

/** Codes stand in paths, which foreign clients do not escape: only what needs no escaping, and no dots alone. */
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
  /** As older clients call it. */
  suffix: nullablePart(16),
  pattern: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 32,
      pattern: `^([${CODE_CHARACTERS}]*#[${CODE_CHARACTERS}#]*)?$`,
      'x-says': 'must be at most 32 letters, digits or -._~!$*+:@, and "#" for each character that is drawn',
      description: 'Such as `GIFT-####-####`: each `#` stands for a character that is drawn.',
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
  /** `#` stands for a character that is drawn; it takes the place of `length`. */
  readonly pattern: string | null
}

const ALPHANUMERIC = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** 62^8: guessing one of a million codes takes two hundred million tries. */
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
  // What lies above the largest multiple would favour the first characters.
  const fair = 256 - (256 % charset.length)
  for (;;) for (const byte of random(8)) if (byte < fair) return charset[byte % charset.length]!
}

/** A code as the campaign wants it; whether it is free only the store can tell. */
export function newCode(random: RandomBytes, config: CodeConfig): string {
  const pattern = config.pattern ?? '#'.repeat(config.length!)
  const drawn = pattern.replace(/#/g, () => draw(random, config.charset))
  return `${config.prefix ?? ''}${drawn}${config.postfix ?? ''}`
}
