import type { ReactNode } from 'react'
import { TextField as AriaTextField, FieldError, Input, Label, Text, TextArea } from 'react-aria-components'

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** The mistake in this value; shown below it. */
  readonly error?: string | undefined
  readonly hint?: ReactNode
  readonly type?: 'text' | 'password' | 'number' | 'url'
  readonly placeholder?: string
  readonly autoComplete?: string
  readonly isRequired?: boolean
  /** Several lines. */
  readonly rows?: number
  readonly isMono?: boolean
  readonly autoFocus?: boolean
}

export function TextField(props: TextFieldProps) {
  const { label, error, hint, rows, placeholder, isMono, ...rest } = props
  const className = isMono ? 'mono' : undefined
  return (
    // The server decides what is valid, so the browser must not keep a form from being sent.
    <AriaTextField {...rest} validationBehavior="aria" isInvalid={error !== undefined} className="field">
      <Label>{label}</Label>
      {rows ? (
        <TextArea rows={rows} placeholder={placeholder} className={className} spellCheck={false} />
      ) : (
        <Input placeholder={placeholder} className={className} />
      )}
      {hint && (
        <Text slot="description" className="dim small">
          {hint}
        </Text>
      )}
      <FieldError>{error}</FieldError>
    </AriaTextField>
  )
}
