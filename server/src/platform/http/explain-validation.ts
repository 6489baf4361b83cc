import { Problem } from '../../contract/problem.ts'
import { didYouMean } from '../closest.ts'

/** What Ajv says of the first thing that is wrong. */
interface Finding {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Record<string, unknown>
  readonly message?: string
  readonly data?: unknown
  readonly parentSchema?: {
    properties?: Record<string, unknown>
    additionalProperties?: unknown
    'x-says'?: string
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

function ruleWords({ keyword, params, parentSchema, message }: Finding): string {
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
      return `must be one of: ${(params.allowedValues as unknown[]).join(', ')}`
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
  if (parentSchema?.additionalProperties !== false) return undefined
  const known = Object.keys(parentSchema.properties ?? {})
  const stray = Object.keys(data as object).find((name) => !known.includes(name))
  return stray === undefined ? undefined : unknownField(stray, known)
}

function missing(finding: Finding): Problem {
  const name = [nameOf(finding.instancePath), String(finding.params.missingProperty)]
    .filter(Boolean)
    .join('.')
  return new Problem('missing_parameters', {
    message: `${name} is missing.`,
    details: `Send ${name}; the API reference at /docs shows every field.`,
  })
}

/** One sentence about the first thing that is wrong, and what to do about it. */
export function explainValidation(finding: Finding, part: string): Problem {
  const { keyword, instancePath, params, parentSchema } = finding
  if (keyword === 'required') return misspelt(finding) ?? missing(finding)
  if (keyword === 'additionalProperties')
    return unknownField(String(params.additionalProperty), Object.keys(parentSchema?.properties ?? {}))
  return new Problem('invalid_payload', {
    message: `${nameOf(instancePath) || WHERE[part] || 'The request'} ${ruleWords(finding)}.`,
    details: 'Nothing was changed. The API reference at /docs shows every field.',
  })
}
