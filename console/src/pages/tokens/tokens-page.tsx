import { getRouteApi } from '@tanstack/react-router'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Bars } from '../../components/bars.tsx'
import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { countText } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { durationText } from '../../components/time-text.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { TokenHolders } from './token-holders.tsx'
import { TokenList } from './token-list.tsx'
import { TokensByKey } from './tokens-by-key.tsx'

const route = getRouteApi('/projects/$projectId/tokens')
const POLL_MS = 5_000

export function TokensPage() {
  const project_id = useProjectId()
  const { key } = route.useSearch()
  const usage = useApi('/projects/{project_id}/token-usage', { path: { project_id } }, { pollMs: POLL_MS })
  const { active_tokens, token_limit, next_free_in } = usage.data ?? {}
  return (
    <>
      <PageHeader
        title="Tokens"
        subtitle={
          active_tokens !== undefined && token_limit !== undefined
            ? `${countText(active_tokens)} of ${countText(token_limit)} active. ${
                next_free_in == null ? '' : `The next one expires in ${durationText(next_free_in * 1000)}.`
              }`
            : undefined
        }
        cli={cliText('token usage', { project: project_id })}
        request={{ path: `/projects/${project_id}/token-usage` }}
      />
      <div className="columns">
        <TokenHolders limit={token_limit} />
        <Card title="When they expire">
          <Loaded query={usage}>
            {({ expiring }) => (
              <Bars
                label={`Tokens that expire in each of the next ${expiring.length} minutes`}
                bars={expiring.map((value, minute) => ({
                  label: `in ${minute} to ${minute + 1} min`,
                  value,
                }))}
                ends={['now', 'in 15 min']}
              />
            )}
          </Loaded>
          <p className="dim small">
            Certain, not a forecast: every token lives 15 minutes, unless it is revoked.
          </p>
        </Card>
      </div>
      <TokensByKey usage={usage} />
      <TokenList keyId={key} />
    </>
  )
}
