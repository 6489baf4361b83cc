import openapiTypes, { astToString } from 'openapi-typescript'

const PREFIX = '/management/v1'

interface ApiDocument {
  readonly paths: Readonly<Record<string, unknown>>
}

/** Types of the management API for the console. Its client adds the prefix, so paths come without it. */
export async function describeConsoleApi(document: ApiDocument): Promise<string> {
  const own = Object.entries(document.paths).filter(([path]) => path.startsWith(PREFIX))
  const paths = Object.fromEntries(own.map(([path, item]) => [path.slice(PREFIX.length), item]))
  const tree = await openapiTypes(structuredClone({ ...document, paths }) as never, { silent: true })
  return `/** Generated from the routes by \`npm run generate\`. */\n\n${astToString(tree)}`
}
