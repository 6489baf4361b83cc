import { useState } from 'react'
import { Card } from '../../components/card.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { TextField } from '../../components/fields.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { PROXIES_ID } from '../../refusal/fix.ts'
import { useSession } from '../../session/session.tsx'
import { IN_FILES, isAddress, jetonAddress, withAddresses } from './proxy-addresses.ts'
import { PROXY_FILES } from './proxy-files.ts'

const WRONG = 'A host and a port, such as 10.0.0.4:8080.'

/** Complete configurations of proxies that ask Jeton about every call. */
export function ProxyConfigurations() {
  const { public_url } = useSession()
  const [jeton, setJeton] = useState(jetonAddress(public_url))
  const [api, setApi] = useState(IN_FILES.api)
  const addresses = {
    jeton: isAddress(jeton) ? jeton : IN_FILES.jeton,
    api: isAddress(api) ? api : IN_FILES.api,
  }
  return (
    <Card
      id={PROXIES_ID}
      title="Let a proxy ask about every call"
      aside={
        <a href="/docs/guides/protect-an-api" target="_blank" rel="noreferrer">
          Guide
        </a>
      }
    >
      <div className="stack">
        <div className="check-form">
          <TextField
            label="Jeton listens at"
            value={jeton}
            onChange={setJeton}
            error={isAddress(jeton) ? undefined : WRONG}
            isMono
          />
          <TextField
            label="Your API listens at"
            value={api}
            onChange={setApi}
            error={isAddress(api) ? undefined : WRONG}
            isMono
          />
        </div>
        <Tabs
          label="Proxies"
          tabs={PROXY_FILES.map(({ id, title, text }) => ({
            id,
            title,
            content: <CodeBlock text={withAddresses(text, addresses)} />,
          }))}
        />
      </div>
    </Card>
  )
}
