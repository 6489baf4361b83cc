import type { ErrorKey } from '../../contract/error-keys.ts'
import { Problem } from '../../contract/problem.ts'
import { didYouMean } from '../closest.ts'

/** What Ajv says of something that is wrong. */
export interface Finding {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Record<string, unknown>
  readonly message?: string
  readonly data?: unknown
  readonly schema?: unknown
  /** Of a field whose name itself is wrong. */
  readonly propertyName?: string
  readonly parentSchema?: {
    properties?: Record<string, unknown>
    additionalProperties?: unknown
    'x-says'?: string
    'x-key'?: ErrorKey
  }
}

const nameOf = (path: string): string =>
  path
    .slice(1)
    .replaceAll('/', '.')
    .replace(/\.(\d+)/g, '[$1]')

const article = (type: string): string =>
  ({
    integer: 'a whole number',
    number: 'a number',
    string: 'text',
    array: 'a list',
    object: 'an object',
    boolean: 'true or false',
    null: 'null',
  })[type] ?? type

const typeWords = (types: unknown): string =>
  [types]
    .flat()
    .map((type) => article(String(type)))
    .join(' or ')

/** Longer lists would bury what is wrong; the reference has them. */
const CHOICES_MOST = 12

function choiceWords(choices: readonly unknown[]): string {
  if (choices.length > CHOICES_MOST) return `must be one of ${choices.length} values`
  return choices.length === 1 ? `must be ${choices[0]}` : `must be one of: ${choices.join(', ')}`
}

/** A value that is none of those allowed is often a misspelt one. */
function guessFor({ keyword, params, data }: Finding): string {
  if (keyword !== 'enum' || typeof data !== 'string') return ''
  return didYouMean(data, (params.allowedValues as unknown[]).map(String))
}

function ruleWords({ keyword, params, parentSchema, schema, message }: Finding): string {
  // A schema may say its rule in words, where a pattern would tell a person nothing.
  if (parentSchema?.['x-says'] && keyword !== 'type') return parentSchema['x-says']
  const limit = String(params.limit)
  switch (keyword) {
    case 'type':
      return `must be ${typeWords(params.type)}`
    case 'minLength':
      return Number(limit) === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minItems':
      return `must have at least ${limit} entries`
    case 'maxItems':
      return `must have at most ${limit} entries`
    case 'uniqueItems':
      return 'must not name the same entry twice'
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'enum':
      return choiceWords(params.allowedValues as unknown[])
    case 'const':
      return `must be ${params.allowedValue}`
    case 'not':
      return `must not be ${(schema as { const?: unknown }).const}`
    case 'minProperties':
      return 'must name at least one field'
    default:
      return message ?? 'is not valid'
  }
}

const WHERE: Record<string, string> = {
  body: 'The body',
  querystring: 'The query',
  params: 'The path',
  headers: 'A header',
}

function unknownField(name: string, known: readonly string[]): Problem {
  return new Problem('invalid_payload', {
    message: `${JSON.stringify(name.slice(0, 80))} is not a field here.${didYouMean(name, known)}`,
    details: known.length > 0 ? `Fields: ${known.join(', ')}.` : 'This takes no fields.',
  })
}

/** A misspelt field is also a missing one; naming the misspelling helps more. */
function misspelt({ data, parentSchema }: Finding): Problem | undefined {
  if (parentSchema?.additionalProperties !== false || typeof data !== 'object') return undefined
  const known = Object.keys(parentSchema.properties ?? {})
  const stray = Object.keys(data ?? {}).find((name) => !known.includes(name))
  return stray === undefined ? undefined : unknownField(stray, known)
}

function missing(finding: Finding): Problem {
  const name = [nameOf(finding.instancePath), String(finding.params.missingProperty)]
    .filter(Boolean)
    .join('.')
  return new Problem(finding.parentSchema?.['x-key'] ?? 'missing_parameters', {
    message: `${name} is missing.`,
    details: `Send ${name}; the API reference at /docs shows every field.`,
  })
}

const isChoice = ({ keyword }: Finding): boolean => keyword === 'oneOf' || keyword === 'anyOf'

function subjectOf({ instancePath, propertyName }: Finding, part: string): string {
  const subject = nameOf(instancePath) || WHERE[part] || 'The request'
  return propertyName === undefined ? subject : `${subject}: ${JSON.stringify(propertyName.slice(0, 60))}`
}

/**
 * One sentence about the first thing that is wrong, and what to do about it. Of a choice of schemas only the choice is
 * explained: what each of them lacks would be said as if all were required.
 */
export function explainValidation(findings: readonly Finding[], part: string): Problem {
  const finding = findings.find(isChoice) ?? findings[0]!
  const { keyword, params, parentSchema } = finding
  const slip = keyword === 'required' || isChoice(finding) ? misspelt(finding) : undefined
  if (slip) return slip
  if (keyword === 'required') return missing(finding)
  if (keyword === 'additionalProperties')
    return unknownField(String(params.additionalProperty), Object.keys(parentSchema?.properties ?? {}))
  return new Problem(parentSchema?.['x-key'] ?? 'invalid_payload', {
    message: `${subjectOf(finding, part)} ${ruleWords(finding)}.${guessFor(finding)}`,
    details: 'Nothing was changed. The API reference at /docs shows every field.',
  })
}
