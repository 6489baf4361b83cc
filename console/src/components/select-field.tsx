import { useId } from 'react'

interface SelectFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly choices: readonly (readonly [value: string, label: string])[]
  readonly hint?: string
}

export function SelectField({ label, value, onChange, choices, hint }: SelectFieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        aria-describedby={hint && `${id}-hint`}
      >
        {choices.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
      {hint && (
        <span id={`${id}-hint`} className="dim small">
          {hint}
        </span>
      )}
    </div>
  )
}
