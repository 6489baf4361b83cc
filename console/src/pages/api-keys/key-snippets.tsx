import { CodeBlock } from '../../components/code-block.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useSession } from '../../session/session.tsx'
import { type SnippetKey, snippetsFor } from './snippets.ts'

/** Ready configuration for a key. The secret is filled in only while it is shown. */
export function KeySnippets({ apiKey, appToken }: { apiKey: SnippetKey; appToken?: string }) {
  const { public_url } = useSession()
  const tabs = snippetsFor(apiKey, public_url, appToken)
  return (
    <Tabs
      label="Snippets"
      tabs={tabs.map(({ id, title, text }) => ({ id, title, content: <CodeBlock text={text} /> }))}
    />
  )
}
