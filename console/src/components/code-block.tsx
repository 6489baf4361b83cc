import { CopyButton } from './copy-button.tsx'

/** Text to copy: a command, a configuration, a body. */
export const CodeBlock = ({ text, label = 'Copy' }: { text: string; label?: string }) => (
  <div className="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} label={label} />
  </div>
)
