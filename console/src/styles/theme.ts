import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

/** The only thing that the console stores in the browser. */
const STORED = 'theme'
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(STORED)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(STORED, theme)
    document.documentElement.dataset.theme = theme
  }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  prefersDark.addEventListener('change', listener)
  return () => {
    listeners.delete(listener)
    prefersDark.removeEventListener('change', listener)
  }
}

const effectiveTheme = (): 'light' | 'dark' => {
  const chosen = chosenTheme()
  return chosen === 'system' ? (prefersDark.matches ? 'dark' : 'light') : chosen
}

/** The theme in effect. A canvas must follow it by itself. */
export const useTheme = () => useSyncExternalStore(subscribe, effectiveTheme)
