import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, type ButtonProps } from './button.tsx'

interface CopyButtonProps {
  readonly text: string
  /** Names the copied text, for screen readers and, unless `iconOnly`, for everyone. */
  readonly label: string
  readonly iconOnly?: boolean
  readonly look?: ButtonProps['look']
}

export function CopyButton({ text, label, iconOnly = false, look }: CopyButtonProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  const Icon = copied ? Check : Copy
  const shown = copied ? 'Copied' : label
  return (
    <Button
      {...(iconOnly ? { look: 'quiet', 'aria-label': shown } : { look })}
      onPress={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <Icon size={13} aria-hidden />
      {!iconOnly && shown}
    </Button>
  )
}
