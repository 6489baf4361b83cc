import { useNavigate, useSearch } from '@tanstack/react-router'

export type SearchParams = Readonly<Record<string, string | undefined>>

/** The text of a parameter; undefined if it is missing or empty. */
export const textParam = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** One of the given values, or undefined. */
export const choiceParam = <T extends string>(value: unknown, choices: readonly T[]): T | undefined =>
  choices.find((choice) => choice === value)

/** The position in a list. */
export const pageParams = (raw: Record<string, unknown>) => ({
  page: textParam(raw.page),
  cursor: textParam(raw.cursor),
})

/** Parameters of the current URL, whichever page shows it, and a function to change some of them. */
export function useSearchParams(): [SearchParams, (changes: SearchParams) => void] {
  const search = useSearch({ strict: false }) as SearchParams
  const navigate = useNavigate()
  const change = (changes: SearchParams) =>
    void navigate({ to: '.', search: ((current: SearchParams) => ({ ...current, ...changes })) as never })
  return [search, change]
}

/** Every value is text: `?state=active`, not JSON. */
export const parseSearch = (text: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text))

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text && `?${text}`
}
