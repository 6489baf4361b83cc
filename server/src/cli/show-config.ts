import { describeConfig, type SettingReport } from '../platform/config/index.ts'
import { type AskOptions, answeredByText, askService } from './ask-service.ts'
import { type Io, printLine, remark } from './io.ts'
import { printTable } from './print.ts'

export const SHELL_SETTINGS =
  'These are the settings of this shell. A service started elsewhere may have others: run this with its environment.'

/** Says for programs that no service answered. */
export const FROM_SHELL = { settings_from: 'environment of this shell', service: null } as const

/** Prints the settings of the running service; without one, those of this shell. */
export async function showConfig(io: Io, options: AskOptions & { json?: boolean }): Promise<void> {
  const asked = options.local
    ? undefined
    : await askService<SettingReport>(io, options, { path: '/management/v1/settings' })
  if (asked?.answeredBy) {
    const { answeredBy: service, data } = asked
    const settings = data.map(({ name, value, source, default: fallback }) => ({
      ...{ name, value, source },
      default: fallback,
    }))
    print(io, { settings_from: 'service', service, settings }, options)
    return remark(io, `${answeredByText(service)} Settings of this shell: jeton config --local`)
  }
  print(io, { ...FROM_SHELL, settings: describeConfig(io.env) }, options)
  if (asked) remark(io, `No service was asked: ${asked.whyNot}.`)
  remark(io, SHELL_SETTINGS)
}

interface Shown {
  readonly settings_from: string
  readonly service: object | null
  readonly settings: readonly SettingReport[]
}

function print(io: Io, shown: Shown, { json }: { json?: boolean }): void {
  if (json) {
    printLine(io, JSON.stringify(shown, null, 2))
    return
  }
  const text = (value: string | null) => (value === null ? '(not set)' : value === '' ? '(empty)' : value)
  const rows = shown.settings.map((one) => ({
    ...one,
    value: text(one.value),
    default: text(one.default),
  }))
  printTable(io, ['name', 'value', 'source', 'default'], rows)
}
