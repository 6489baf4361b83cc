import { Ajv, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'

/** `verbose` adds the schema to each error, for our keywords `x-says` and `x-key`. Formats are documentation. */
const options: Options = {
  ...{ removeAdditional: false, useDefaults: false, allErrors: false, strict: false },
  ...{ verbose: true, validateFormats: false },
  // Binary fractions: 0.07 is a multiple of 0.01 only with a tolerance.
  multipleOfPrecision: 6,
}

/**
 * Validates bodies without conversion: Fastify's defaults would turn "10" into 10 and null into 0, and drop unknown fields
 * silently. Queries and paths are text, so numbers in them are parsed.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const exact = new Ajv({ ...options, coerceTypes: false })
  const fromText = new Ajv({ ...options, coerceTypes: true })
  return ({ schema, httpPart }) =>
    compileLazily(httpPart === 'querystring' || httpPart === 'params' ? fromText : exact, schema) as never
}

/** Compiles at the first request, because a service that only issues tokens needs none of the hundred validators. */
function compileLazily(ajv: Ajv, schema: object): ValidateFunction {
  let compiled: ValidateFunction | undefined
  const validate = ((data: unknown) => {
    compiled ??= ajv.compile(schema)
    const valid = compiled(data)
    validate.errors = compiled.errors ?? null
    return valid
  }) as ValidateFunction
  return validate
}
