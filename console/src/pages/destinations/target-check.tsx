import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, read } from '../../api/client.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'

const TYPING_MS = 600

/** The text once nobody has typed for a moment: operators have 30 checks per minute. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

const isUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** Whether Jeton may send to an address and reaches it. No request is sent, only a connection opened. */
export function TargetCheck({ projectId, url }: { projectId: string; url: string }) {
  const target = useSettled(url.trim())
  const check = useQuery({
    queryKey: ['target check', projectId, target],
    queryFn: () =>
      read(
        api.POST('/projects/{project_id}/webhooks/check', {
          params: { path: { project_id: projectId } },
          body: { target_url: target },
        }),
      ),
    enabled: isUrl(target),
    staleTime: 60_000,
    gcTime: 60_000,
  })
  if (!isUrl(target)) return <p className="dim small">An address such as https://hooks.example.com/jeton.</p>
  if (check.error) return <p className="tone-bad small">{check.error.message}</p>
  if (!check.data) return <p className="dim small">Connecting …</p>
  const { allowed, reason, addresses, tls, connect_ms } = check.data
  return (
    <div className="stack tight small" role="status">
      <p className="row">
        <StateBadge tone={allowed ? 'ok' : 'bad'}>{allowed ? 'allowed' : 'not allowed'}</StateBadge>
        {connect_ms !== null && <StateBadge tone="ok">connects in {connect_ms} ms</StateBadge>}
        {tls && (
          <StateBadge tone="ok">
            certificate valid, expires <RelativeTime at={tls.valid_until} />
          </StateBadge>
        )}
        {allowed && connect_ms === null && <StateBadge tone="warn">no connection</StateBadge>}
      </p>
      {reason && <bdi>{reason}</bdi>}
      {addresses.length > 0 && <p className="dim">{addresses.join(', ')}</p>}
    </div>
  )
}
