import type { ErrorKey } from '../../contract/error-keys.ts'
import { Problem } from '../../contract/problem.ts'
import { didYouMean } from '../closest.ts'

/** An error of Ajv. */
export interface Finding {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Record<string, unknown>
  readonly message?: string
  readonly data?: unknown
  readonly schema?: unknown
  /** The name of a field whose name itself is invalid. */
  readonly propertyName?: string
  readonly parentSchema?: {
    properties?: Record<string, unknown>
    additionalProperties?: unknown
    'x-says'?: string
    'x-key'?: ErrorKey
  }
}

/** `/items/0/name` as `items[0].name`. */
const fieldName = (path: string): string =>
  path
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  array: 'a list',
  object: 'an object',
  boolean: 'true or false',
}

const typeWord = (type: unknown): string => TYPES[String(type)] ?? String(type)
const typeWords = (types: unknown): string => [types].flat().map(typeWord).join(' or ')

/** A longer list would hide the message. The reference contains it. */
const MAX_CHOICES = 12

function choiceWords(choices: readonly unknown[]): string {
  if (choices.length > MAX_CHOICES) return `must be one of ${choices.length} values`
  return choices.length === 1 ? `must be ${choices[0]}` : `must be one of: ${choices.join(', ')}`
}

/** Suggests a similar allowed value. */
function guessFor({ keyword, params, data }: Finding): string {
  if (keyword !== 'enum' || typeof data !== 'string') return ''
  return didYouMean(data, (params.allowedValues as unknown[]).map(String))
}

/** Texts for the schema keywords. */
const RULES: Readonly<Record<string, (params: Finding['params'], schema: unknown) => string>> = {
  type: ({ type }) => `must be ${typeWords(type)}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} entries`,
  maxItems: ({ limit }) => `must have at most ${limit} entries`,
  uniqueItems: () => 'must not contain duplicates',
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  enum: ({ allowedValues }) => choiceWords(allowedValues as unknown[]),
  const: ({ allowedValue }) => `must be ${allowedValue}`,
  not: (_, schema) => `must not be ${(schema as { const?: unknown }).const}`,
  minProperties: () => 'must contain at least one field',
}

function ruleWords({ keyword, params, parentSchema, schema, message = 'is not valid' }: Finding): string {
  // A schema may provide its own text, because a pattern means nothing to most people.
  if (parentSchema?.['x-says'] && keyword !== 'type') return parentSchema['x-says']
  return RULES[keyword]?.(params, schema) ?? message
}

const PARTS: Readonly<Record<string, string>> = {
  body: 'The body',
  querystring: 'The query',
  params: 'The path',
}

function unknownField(name: string, known: readonly string[]): Problem {
  return new Problem('invalid_payload', {
    message: `${JSON.stringify(name.slice(0, 80))} is not a field here.${didYouMean(name, known)}`,
    details: known.length > 0 ? `Fields: ${known.join(', ')}.` : 'No fields are allowed.',
  })
}

/** A misspelt field is also a missing one. The misspelling is the more helpful message. */
function misspelt({ data, parentSchema }: Finding): Problem | undefined {
  if (parentSchema?.additionalProperties !== false || typeof data !== 'object') return undefined
  const known = Object.keys(parentSchema.properties ?? {})
  const stray = Object.keys(data ?? {}).find((name) => !known.includes(name))
  return stray === undefined ? undefined : unknownField(stray, known)
}

function missing(finding: Finding): Problem {
  const name = [fieldName(finding.instancePath), String(finding.params.missingProperty)]
    .filter(Boolean)
    .join('.')
  return new Problem(finding.parentSchema?.['x-key'] ?? 'missing_parameters', {
    message: `${name} is missing.`,
    details: `Send ${name}; the API reference at /docs shows every field.`,
  })
}

const isChoice = ({ keyword }: Finding): boolean => keyword === 'oneOf' || keyword === 'anyOf'

function subjectOf({ instancePath, propertyName }: Finding, part: string): string {
  const subject = fieldName(instancePath) || PARTS[part] || 'The request'
  return propertyName === undefined ? subject : `${subject}: ${JSON.stringify(propertyName.slice(0, 60))}`
}

/**
 * Explains the first error in one sentence. If none of several schemas matches, only the choice is explained: the errors of
 * each schema would read as if all were required.
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
