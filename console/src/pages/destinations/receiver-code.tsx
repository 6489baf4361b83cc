import nodeReceiver from '../../../../docs/guides/receivers/receiver.mjs?raw'
import pythonReceiver from '../../../../docs/guides/receivers/receiver.py?raw'
import { CodeBlock } from '../../components/code-block.tsx'
import { Tabs } from '../../components/tabs.tsx'

/** Complete receivers without dependencies, the same files that the guide shows and its test runs. */
export const ReceiverCode = () => (
  <details>
    <summary>A receiver that checks the signature</summary>
    <Tabs
      label="Receiver"
      tabs={[
        { id: 'node', title: 'Node', content: <CodeBlock text={nodeReceiver} /> },
        { id: 'python', title: 'Python', content: <CodeBlock text={pythonReceiver} /> },
      ]}
    />
  </details>
)
