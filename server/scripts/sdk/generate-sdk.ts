import { ERRORS } from '../../src/contract/error-keys.ts'
import { EVENT_KINDS } from '../../src/contract/event-kinds.ts'
import { SCOPE_VALUES, SCOPES } from '../../src/contract/scopes.ts'
import { EVENT_SCHEMAS } from '../../src/features/events/index.ts'
import {
  HEADER,
  managementOperations,
  managementTypes,
  type OpenApi,
  unmaskedSecrets,
} from './management-types.ts'
import { comment, objectText, type TypeSchema } from './type-text.ts'

const unionOf = (values: readonly string[]): string => values.map((value) => `\n  | '${value}'`).join('')

function scopes(): string {
  const of = (side: string) => unionOf(SCOPE_VALUES.filter((scope) => SCOPES[scope].side === side))
  return [
    `${HEADER}/** Scopes of \`/v1\`. \`api\` covers all of them. */\nexport type ServerScope =${of('server')}\n`,
    `/** Scopes of \`/client/v1\`. \`client_api\` covers all of them. */\nexport type ClientScope =${of('client')}\n`,
    'export type Scope = ServerScope | ClientScope\n',
  ].join('\n')
}

const errorKeys = (): string =>
  `${HEADER}/** Stable names of errors. */\nexport type ErrorKey =${unionOf(Object.keys(ERRORS))}\n`

/** `customer.reward_redemptions.completed` becomes `RewardRedemptionCompleted`. */
function typeNameOf(wire: string): string {
  const [, noun = '', verb = ''] = wire.split('.')
  return `${noun.replace(/s$/, '')}_${verb}`.replace(/(?:^|_)(\w)/g, (_, letter: string) =>
    letter.toUpperCase(),
  )
}

function events(): string {
  const kinds = EVENT_SCHEMAS.map(({ kind, schema }) => ({ kind, schema, ...EVENT_KINDS[kind] }))
  const types = kinds.map(
    ({ wire, schema, says }) =>
      `${comment(says, '')}export interface ${typeNameOf(wire)} ${objectText(schema as TypeSchema)}\n`,
  )
  const map = kinds.map(({ wire }) => `  readonly '${wire}': ${typeNameOf(wire)}\n`).join('')
  const names = kinds.map(
    ({ wire, kind, version }) => `  '${wire}': { kind: '${kind}', version: '${version}' },\n`,
  )
  return [
    HEADER + types.join('\n'),
    `/** Events by \`event.type\` of their body. */\nexport interface EventMap {\n${map}}\n`,
    'export type JetonEvent = EventMap[keyof EventMap]\n',
    `/** \`type\` of the body, and the version of its fields. */\nexport const EVENT_KINDS = {\n${names.join('')}} as const\n`,
  ].join('\n')
}

/** Generates the files of the SDK that follow from the server. */
export function generateSdk(api: object): Record<string, string> {
  const document = api as OpenApi
  const unmasked = unmaskedSecrets(document)
  if (unmasked.length > 0) throw new Error(`the SDK would not mask ${unmasked.join(', ')}: add it to SECRETS`)
  return {
    'sdk/src/generated/scopes.ts': scopes(),
    'sdk/src/generated/error-keys.ts': errorKeys(),
    'sdk/src/generated/events.ts': events(),
    'sdk/src/generated/management.ts': managementTypes(document),
    'sdk/src/generated/operations.ts': managementOperations(document),
  }
}
