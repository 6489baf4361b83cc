import { type ReactNode, useEffect, useId, useState } from 'react'
import { useSearchParams } from '../routing/search-params.ts'
import { Button, type ButtonProps } from './button.tsx'

/** Changing a filter starts at the first page again. */
const FIRST_PAGE = { page: undefined, cursor: undefined }
const TYPING_MS = 300

/** Filters of a list. Each one is a parameter of the URL with the same name. */
export const FilterBar = ({ names, children }: { names: readonly string[]; children: ReactNode }) => (
  <search className="filters">
    {children}
    {useIsFiltered(names) && <ClearFilters names={names} look="quiet" />}
  </search>
)

export function useIsFiltered(names: readonly string[]): boolean {
  const [search] = useSearchParams()
  return names.some((name) => search[name] !== undefined)
}

interface ClearFiltersProps {
  readonly names: readonly string[]
  readonly look?: ButtonProps['look']
}

export function ClearFilters({ names, look }: ClearFiltersProps) {
  const [, change] = useSearchParams()
  const none = Object.fromEntries(names.map((name) => [name, undefined]))
  return (
    <Button {...(look && { look })} onPress={() => change({ ...none, ...FIRST_PAGE })}>
      Clear filters
    </Button>
  )
}

interface ChoiceFilterProps {
  readonly name: string
  readonly label: string
  readonly choices: readonly (readonly [value: string, label: string])[]
  /** Shown for no value. */
  readonly all?: string
}

export function ChoiceFilter({ name, label, choices, all = 'Any' }: ChoiceFilterProps) {
  const id = useId()
  const [search, change] = useSearchParams()
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={search[name] ?? ''}
        onChange={({ target }) => change({ ...FIRST_PAGE, [name]: target.value || undefined })}
      >
        <option value="">{all}</option>
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface TextFilterProps {
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  /** `datetime-local` for times; the URL then has ISO 8601 in UTC. */
  readonly type?: 'text' | 'datetime-local'
}

export function TextFilter({ name, label, placeholder, type = 'text' }: TextFilterProps) {
  const id = useId()
  const [search, change] = useSearchParams()
  const stored = search[name] ?? ''
  const [typed, setTyped] = useState(stored)
  useEffect(() => setTyped(stored), [stored])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the timer
  useEffect(() => {
    if (typed === stored) return
    const timer = setTimeout(() => change({ ...FIRST_PAGE, [name]: typed || undefined }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  const isTime = type === 'datetime-local'
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        placeholder={placeholder}
        value={isTime ? toLocal(typed) : typed}
        onChange={({ target }) => setTyped(isTime ? toUtc(target.value) : target.value)}
      />
    </div>
  )
}

function toLocal(utc: string): string {
  const time = Date.parse(utc)
  if (Number.isNaN(time)) return ''
  return new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

const toUtc = (local: string): string => (local === '' ? '' : new Date(local).toISOString())
