import { didYouMean } from '../closest.ts'
import { StartFailure } from '../start-failure.ts'
import { type Config, SETTINGS, type SettingName } from './settings.ts'

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

export type Environment = Readonly<Record<string, string | undefined>>

/** Reads the settings, or throws one line that names the wrong setting and the rule. Secrets are never repeated. */
export function readConfig(env: Environment): Config {
  for (const name of Object.keys(env)) {
    if (name.startsWith('JETON_') && !Object.hasOwn(SETTINGS, name))
      throw new StartFailure(
        `${name} is not a setting.${didYouMean(name, SETTING_NAMES) || ' See docs/reference/settings.md.'}`,
      )
  }
  const config = Object.fromEntries(
    SETTING_NAMES.map((name) => [name, readSetting(name, env[name])]),
  ) as Config
  if ((config.JETON_MANAGEMENT_ID === undefined) !== (config.JETON_MANAGEMENT_TOKEN === undefined))
    throw new StartFailure(
      'JETON_MANAGEMENT_ID and JETON_MANAGEMENT_TOKEN must be set together. Set both or neither.',
    )
  if (config.JETON_MANAGEMENT_PORT && config.JETON_MANAGEMENT_PORT === config.JETON_PORT)
    throw new StartFailure(
      'JETON_MANAGEMENT_PORT must differ from JETON_PORT. Leave it unset to share one port.',
    )
  return config
}

function readSetting(name: SettingName, given: string | undefined): unknown {
  const setting: { kind: { parse(text: string): unknown }; fallback?: string } = SETTINGS[name]
  const written = given === undefined || (given === '' && setting.fallback !== '') ? setting.fallback : given
  if (written === undefined) return undefined
  try {
    return setting.kind.parse(written)
  } catch (error) {
    throw new StartFailure(`${name}: ${(error as Error).message}`)
  }
}

/** Effective values as text with their source. Secrets are masked. */
export function describeConfig(env: Environment): { name: SettingName; value: string; from: string }[] {
  const config = readConfig(env)
  return SETTING_NAMES.map((name) => {
    const fromEnvironment = env[name] !== undefined && env[name] !== ''
    const value = config[name]
    const shown = value === undefined ? '(not set)' : Array.isArray(value) ? value.join(',') : String(value)
    const masked = 'secret' in SETTINGS[name] && value !== undefined ? mask(shown) : shown
    return {
      name,
      value: masked === '' ? '(empty)' : masked,
      from: fromEnvironment ? 'environment' : 'default',
    }
  })
}

/** Hides every password, but keeps the rest of a database address recognisable. */
function mask(value: string): string {
  const address = /^(postgres(?:ql)?:\/\/)(?:([^:@/]*)(?::[^/]*)?@)?([^?]*)/.exec(value)
  return address ? `${address[1]}${address[2] ? `${address[2]}:•••@` : ''}${address[3]}` : '•••'
}
