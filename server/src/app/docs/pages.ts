import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

export interface DocPage {
  /** Path below `/docs/`, and of the file below `docs/`. */
  readonly path: string
  readonly title: string
  readonly summary: string
}

interface Section {
  readonly title: string
  readonly pages: readonly DocPage[]
}

const page = (path: string, title: string, summary: string): DocPage => ({ path, title, summary })

/** Every page, in the order of the navigation. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Start',
    pages: [
      page('quickstart', 'Quickstart', 'From the first start to a received event in five minutes.'),
      page('concepts', 'Concepts', 'Projects, keys, tokens, events and deliveries.'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page('guides/tokens', 'Tokens', 'Issue, use, introspect and revoke access tokens.'),
      page('guides/protect-an-api', 'Protect an API', 'nginx, Caddy, Traefik and Envoy.'),
      page(
        'guides/receive-webhooks',
        'Receive webhooks',
        'Signatures, retries, and receivers in Node and Python.',
      ),
      page(
        'guides/sdk',
        'SDK',
        'Tokens, guard, webhooks, management and tests in JavaScript and TypeScript.',
      ),
      page('guides/loyalty', 'Loyalty', 'Customers, points and rewards.'),
      page(
        'guides/report-redemptions',
        'Report redemptions',
        'Keep your own ledger, and let Jeton send the events.',
      ),
      page('guides/migrate-from-voucherify', 'Migrate from Voucherify', 'What changes, and what does not.'),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page('operate/deploy', 'Deploy', 'Settings, PostgreSQL, and the checklist before going live.'),
      page('operate/console', 'Console', 'What each page of the web console shows, and how to open it.'),
      page('operate/operators', 'Operators', 'Roles, signing in with a browser, and sessions.'),
      page(
        'operate/declarative-set-up',
        'Declarative set-up',
        'Projects, keys and webhooks from a file in Git, applied by a pipeline.',
      ),
      page('operate/monitor', 'Monitor', 'Health checks, metrics, alerts and logs.'),
      page('operate/upgrade', 'Upgrade', 'Rolling upgrades and migrations.'),
      page('operate/back-up', 'Back up and restore', 'Snapshots for SQLite and PostgreSQL.'),
      page(
        'operate/rotate-secrets',
        'Rotate secrets',
        'Keys, webhook secrets, operators, the encryption key.',
      ),
      page('operate/scale', 'Scale', 'More processes, more machines, and the size of PostgreSQL.'),
      page(
        'operate/cluster',
        'Cluster',
        'Three nodes with Patroni and etcd, and what happens in each fault.',
      ),
      page('operate/troubleshoot', 'Troubleshoot', 'From the symptom to the command.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('reference/settings', 'Settings', 'Every environment variable.'),
      page('reference/errors', 'Errors', 'Every error key, with what to do.'),
      page('reference/scopes', 'Scopes', 'The 42 scopes and the paths they cover.'),
      page('reference/events', 'Events', 'The body of a webhook, annotated.'),
      page('reference/metrics', 'Metrics', 'Every Prometheus metric.'),
      page('reference/cli', 'Command line', 'Every command, with its options and examples.'),
    ],
  },
  {
    title: 'Background',
    pages: [
      page('security-model', 'Security model', 'Every guarantee, with the test that proves it.'),
      page('benchmarks', 'Benchmarks', 'What was measured, and how.'),
    ],
  },
]

export const PAGES: readonly DocPage[] = SECTIONS.flatMap(({ pages }) => pages)

export const findPage = (path: string): DocPage | undefined => PAGES.find((one) => one.path === path)

/** Next to the program in a package, at the root of a checkout. */
const inPackage = new URL('../../../docs/', import.meta.url)
const FOLDER = existsSync(inPackage) ? inPackage : new URL('../../../../docs/', import.meta.url)

export const readPage = ({ path }: DocPage): Promise<string> =>
  readFile(new URL(`${path}.md`, FOLDER), 'utf8')

const PICTURE = /^(?:diagrams\/[a-z-]+\.svg|images\/[a-z-]+\.png)$/

/** Returns undefined if the diagram or screenshot does not exist. */
export async function readPicture(path: string): Promise<Buffer | undefined> {
  const file = new URL(path, FOLDER)
  return PICTURE.test(path) && existsSync(file) ? readFile(file) : undefined
}
