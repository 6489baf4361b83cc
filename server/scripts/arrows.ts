/**
 * The arrows of ARCHITECTURE.md, as rules that `npm run check` holds the code to. A rule forbids what its `from` imports
 * of its `to`; `$1` in `except` is what the first group of `from` matched. Tests may import what they like.
 */
export interface Rule {
  readonly says: string
  readonly from: RegExp
  readonly to: RegExp
  readonly except?: readonly string[]
}

/** What each feature may import of the others; everything not listed is forbidden. */
const FEATURE_ARROWS: Readonly<Record<string, readonly string[]>> = {
  audit: [],
  operators: ['audit'],
  projects: ['audit'],
  'api-keys': ['projects', 'audit'],
  tokens: ['api-keys', 'projects', 'audit'],
  refusals: ['projects'],
  processes: [],
  access: ['tokens', 'api-keys', 'projects'],
  idempotency: [],
  customers: [],
  campaigns: ['customers', 'idempotency'],
  rewards: ['campaigns'],
  events: ['projects', 'audit'],
  redemptions: ['rewards', 'campaigns', 'customers', 'events', 'idempotency'],
  webhooks: ['events', 'campaigns', 'projects', 'audit'],
  publications: ['events'],
  deliveries: ['webhooks', 'publications', 'events', 'campaigns', 'projects', 'audit'],
}

const featureRules: Rule[] = Object.entries(FEATURE_ARROWS).map(([name, allowed]) => ({
  says: `features/${name} may import ${allowed.length > 0 ? `only ${allowed.join(', ')}` : 'no other feature'}`,
  from: new RegExp(`^features/${name}/`),
  to: /^features\//,
  except: [name, ...allowed].map((other) => `^features/${other}/`),
}))

export const RULES: readonly Rule[] = [
  { says: 'main.ts imports cli/ only', from: /^main\.ts$/, to: /./, except: ['^cli/'] },
  { says: 'contract/ imports nothing but itself', from: /^contract\//, to: /./, except: ['^contract/'] },
  { says: 'platform/ knows no feature, no app, no cli', from: /^platform\//, to: /^(features|app|cli)\// },
  {
    says: 'rooms of platform/ do not import each other',
    from: /^platform\/([^/]+)\//,
    to: /^platform\/[^/]+\//,
    except: ['^platform/$1/'],
  },
  {
    says: 'files directly in platform/ import no room of it',
    from: /^platform\/[^/]+\.ts$/,
    to: /^platform\/[^/]+\//,
  },
  { says: 'features know neither app nor cli', from: /^features\//, to: /^(app|cli)\// },
  {
    says: 'every feature has its arrows listed',
    from: new RegExp(`^features/(?!(${Object.keys(FEATURE_ARROWS).join('|')})/)`),
    to: /./,
  },
  {
    says: 'features meet only through index.ts',
    from: /^features\/([^/]+)\//,
    to: /^features\/[^/]+\//,
    except: ['^features/$1/', '^features/[^/]+/index\\.ts$'],
  },
  {
    says: 'app and cli enter features through index.ts',
    from: /^(app|cli)\//,
    to: /^features\//,
    except: ['^features/[^/]+/index\\.ts$'],
  },
  {
    says: 'rooms of platform/ are entered through index.ts',
    from: /^(features|app|cli)\//,
    to: /^platform\/[^/]+\//,
    except: ['^platform/[^/]+/index\\.ts$'],
  },
  {
    says: 'only platform/http/server.ts imports the fast path',
    from: /^(?!platform\/http\/(server\.ts|fast-path\/))/,
    to: /^platform\/http\/fast-path\//,
  },
  { says: 'app does not know cli', from: /^app\//, to: /^cli\// },
  {
    says: 'queries live in stores: kysely is for platform/database, migrations and *.store.ts',
    from: /^(?!platform\/database\/|app\/migrations\/).*(?<!\.store)\.ts$/,
    to: /^kysely/,
  },
  { says: 'stores know no HTTP framework', from: /\.store\.ts$/, to: /^fastify/ },
  {
    says: 'no room without a rank (util, helpers, common, shared, misc, lib, types)',
    from: /./,
    to: /(^|\/)(utils?|helpers?|common|shared|misc|lib|types)(\/|\.ts$)/,
  },
  { says: 'the product knows no test', from: /./, to: /(^|\/)test\/|\.test\.ts$/ },
  ...featureRules,
]
