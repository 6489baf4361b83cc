import { TERMINAL_COLUMNS } from './wrapped.ts'

/** Where an example says more than the list of flags. Commands without one need none. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'project.create': ['jeton project create --name "Club Europe"'],
  'project.delete': ['jeton project delete "Club Europe"'],
  'key.list': ['jeton key list --state blocked'],
  'key.create': [
    'jeton key create --name pos-gateway --permissions loyalties,rewards --ip-whitelist 10.0.0.0/8',
    'jeton key create --name command-line --permissions api --save   # for jeton token issue',
    'jeton key create --data @key.json --json',
  ],
  'key.update': [
    'jeton key update pos-gateway --token-limit 50',
    'jeton key update pos-gateway --token-limit null --ip-whitelist ""',
  ],
  'key.show': ['jeton key show pos-gateway', 'jeton key show 4f0c5d1e-7a52-4b7e-9d0f-3c1f6a2b8e90 --json'],
  'key.block': ['jeton key block pos-gateway'],
  'key.regenerate': ['jeton key regenerate pos-gateway --grace-seconds 86400'],
  'operator.create': [
    'jeton operator create --name anna',
    'jeton operator create --local --save   # on the machine of the store',
  ],
  'operator.regenerate': ['jeton operator regenerate anna'],
  'token.list': ['jeton token list --key pos-gateway'],
  'token.revoke': [
    'jeton token revoke tok_5f1d0c9b8a7e6d5c4b3a2918',
    'jeton token revoke jtn_…   # the token itself',
  ],
  'webhook.create': [
    'jeton webhook create --target-url https://hooks.example.com/jeton --events customer.reward_redemptions.completed',
  ],
  'webhook.rotate': ['jeton webhook rotate wh_… --overlap-seconds 3600'],
  'distribution.create': [
    'jeton distribution create --name "Tell the CRM" --campaign-id Club --target-url https://crm.example.com/hook',
    `jeton distribution create … --headers '{"x-tenant":"seven"}'`,
  ],
  'webhook.test': [
    'jeton webhook test wh_…   # exit code 1 if the attempt failed',
    'jeton webhook test wh_… --wait-ms 0   # do not wait for it',
  ],
  'distribution.test': ['jeton distribution test "Tell the CRM"'],
  'event.replay': ['jeton event replay evcus_…', 'jeton event replay evcus_… --destination wh_…'],
  'delivery.list': [
    'jeton delivery list --failing',
    'jeton delivery list --status exhausted --from 2d',
    'jeton delivery list --event evcus_…',
    'jeton delivery list --status held --destination wh_… --all',
  ],
  'delivery.show': ['jeton delivery show whs_…   # every attempt, and the payload'],
  'delivery.retry': ['jeton delivery retry whs_…'],
  'delivery.recover': [
    'jeton delivery recover --since 6h --dry-run',
    'jeton delivery recover --since 6h --include exhausted,failing',
    'jeton delivery recover --since 2026-11-15T14:00:00Z --destination wh_…',
  ],
  'event.list': ['jeton event list --entity cust_… --from 2026-11-01'],
  'audit.list': [
    'jeton audit list --action api_key.blocked --from 2026-11-01',
    'jeton audit list --all-projects   # operators and deleted projects as well',
  ],
  'refusal.list': ['jeton refusal list --limit 50'],
}

export const exampleText = (lines: readonly string[] | undefined): string =>
  lines ? `\nFor example\n${lines.flatMap(fitting).join('\n')}\n` : ''

const fits = (line: string): boolean => line.length <= TERMINAL_COLUMNS

/** What is too long goes on in the next line, in a way that can still be pasted. */
function fitting(example: string): string[] {
  const whole = `  ${example}`
  const [command, remark] = example.split('   # ')
  if (fits(whole)) return [whole]
  if (remark !== undefined) return [`  # ${remark}`, ...fitting(command!)]
  const [first, ...flags] = example.split(/ (?=--)/)
  const lines = [`  ${first}`]
  for (const flag of flags) {
    const longer = `${lines.at(-1)} ${flag}`
    if (fits(`${longer} \\`)) lines[lines.length - 1] = longer
    else lines.push(`    ${flag}`)
  }
  return lines.map((line, i) => (i < lines.length - 1 ? `${line} \\` : line))
}
