import { Ajv, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'

/** `x-says` is our own keyword: a rule in words; `x-key` the error key where that is another than usual. Verbose, so that findings come with their schema. */
const options: Options = {
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  verbose: true,
  strict: false,
  // Formats tell readers and clients what is meant; patterns and handlers check it.
  validateFormats: false,
  // 0.07 is a multiple of 0.01, though not in binary fractions.
  multipleOfPrecision: 6,
}

/**
 * Bodies are taken as they are: Fastify's defaults would turn "10" into 10 and null into 0 and drop unknown fields in
 * silence. Queries and paths are text by nature, so numbers in them are read from it.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const exact = new Ajv({ ...options, coerceTypes: false })
  const fromText = new Ajv({ ...options, coerceTypes: true })
  return ({ schema, httpPart }) =>
    whenNeeded(httpPart === 'querystring' || httpPart === 'params' ? fromText : exact, schema) as never
}

/** Compiled at the first request and not at the start: a service that issues tokens need not hold a hundred validators. */
function whenNeeded(ajv: Ajv, schema: object): ValidateFunction {
  let compiled: ValidateFunction | undefined
  const validate = ((data: unknown) => {
    compiled ??= ajv.compile(schema)
    const valid = compiled(data)
    validate.errors = compiled.errors ?? null
    return valid
  }) as ValidateFunction
  return validate
}
