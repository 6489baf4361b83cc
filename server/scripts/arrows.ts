/**
 * Module dependencies of ARCHITECTURE.md, enforced by `npm run arrows`. A rule forbids imports from `from` to `to`; `$1` in
 * `except` is the first group of `from`. Tests may import anything.
 */
export interface Rule {
  readonly says: string
  readonly from: RegExp
  readonly to: RegExp
  readonly except?: readonly string[]
}

/** Features that each feature may import. Everything else is forbidden. */
const FEATURE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  audit: [],
  operators: ['audit'],
  projects: ['audit'],
  'api-keys': ['projects', 'audit'],
  usage: ['projects'],
  tokens: ['api-keys', 'projects', 'audit', 'usage'],
  refusals: ['projects', 'usage'],
  processes: [],
  access: ['tokens', 'api-keys', 'projects'],
  idempotency: [],
  customers: [],
  campaigns: ['customers', 'idempotency'],
  rewards: ['campaigns'],
  events: ['projects', 'audit', 'usage'],
  redemptions: ['rewards', 'campaigns', 'customers', 'events', 'idempotency', 'usage'],
  webhooks: ['events', 'campaigns', 'projects', 'audit'],
  publications: ['events'],
  support: ['deliveries', 'redemptions', 'rewards', 'campaigns', 'customers', 'events', 'projects'],
  deliveries: ['webhooks', 'publications', 'events', 'campaigns', 'projects', 'audit', 'usage'],
}

const featureRules: Rule[] = Object.entries(FEATURE_IMPORTS).map(([name, allowed]) => ({
  says: `features/${name} may import ${allowed.length > 0 ? `only ${allowed.join(', ')}` : 'no other feature'}`,
  from: new RegExp(`^features/${name}/`),
  to: /^features\//,
  except: [name, ...allowed].map((other) => `^features/${other}/`),
}))

const NAMES: Rule = {
  says: 'no folders or files named util, helpers, common, shared, misc, lib or types',
  from: /./,
  to: /(^|\/)(utils?|helpers?|common|shared|misc|lib|types)(\/|\.tsx?$)/,
}

export const RULES: readonly Rule[] = [
  { says: 'main.ts imports cli/ only', from: /^main\.ts$/, to: /./, except: ['^cli/'] },
  { says: 'contract/ imports nothing but itself', from: /^contract\//, to: /./, except: ['^contract/'] },
  {
    says: 'platform/ does not import features, app or cli',
    from: /^platform\//,
    to: /^(features|app|cli)\//,
  },
  {
    says: 'folders of platform/ do not import each other',
    from: /^platform\/([^/]+)\//,
    to: /^platform\/[^/]+\//,
    except: ['^platform/$1/'],
  },
  {
    says: 'files directly in platform/ do not import its folders',
    from: /^platform\/[^/]+\.ts$/,
    to: /^platform\/[^/]+\//,
  },
  { says: 'features do not import app or cli', from: /^features\//, to: /^(app|cli)\// },
  {
    says: 'every feature is listed with its imports',
    from: new RegExp(`^features/(?!(${Object.keys(FEATURE_IMPORTS).join('|')})/)`),
    to: /./,
  },
  {
    says: 'features import each other only through index.ts',
    from: /^features\/([^/]+)\//,
    to: /^features\/[^/]+\//,
    except: ['^features/$1/', '^features/[^/]+/index\\.ts$'],
  },
  {
    says: 'app and cli import features only through index.ts',
    from: /^(app|cli)\//,
    to: /^features\//,
    except: ['^features/[^/]+/index\\.ts$'],
  },
  {
    says: 'folders of platform/ are imported only through index.ts',
    from: /^(features|app|cli)\//,
    to: /^platform\/[^/]+\//,
    except: ['^platform/[^/]+/index\\.ts$'],
  },
  {
    says: 'only platform/http/server.ts imports the fast path',
    from: /^(?!platform\/http\/(server\.ts|fast-path\/))/,
    to: /^platform\/http\/fast-path\//,
  },
  { says: 'app does not import cli', from: /^app\//, to: /^cli\// },
  {
    says: 'only platform/database, migrations and *.store.ts import kysely',
    from: /^(?!platform\/database\/|app\/migrations\/).*(?<!\.store)\.ts$/,
    to: /^kysely/,
  },
  { says: 'stores do not import Fastify', from: /\.store\.ts$/, to: /^fastify/ },
  NAMES,
  { says: 'sources do not import tests', from: /./, to: /(^|\/)test\/|\.test\.ts$/ },
  ...featureRules,
]

/** The web console: pages use the parts below them, and never each other. */
export const CONSOLE_RULES: readonly Rule[] = [
  { says: 'api/ imports nothing but itself', from: /^api\//, to: /^[a-z-]+\/.*\.tsx?$/, except: ['^api/'] },
  {
    says: 'components/ does not import pages, frame, search or session',
    from: /^components\//,
    to: /^(pages|frame|search|session)\//,
  },
  {
    says: 'pages do not import each other',
    from: /^pages\/([^/]+)\//,
    to: /^pages\/[^/]+\//,
    except: ['^pages/$1/'],
  },
  { says: 'the console does not import the server', from: /./, to: /(^|\/)server\// },
  NAMES,
]
