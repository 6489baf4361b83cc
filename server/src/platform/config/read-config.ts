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
  if ((config.JETON_NOTICE_URL === undefined) !== (config.JETON_NOTICE_SECRET === undefined))
    throw new StartFailure(
      'JETON_NOTICE_URL and JETON_NOTICE_SECRET must be set together. Set both or neither.',
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

/** The effective value of a setting, as one would write it; secrets are masked, and null is "not set". */
export interface SettingReport {
  readonly name: SettingName
  readonly value: string | null
  readonly source: 'environment' | 'flag' | 'default'
  readonly default: string | null
}

/** Describes every setting. `flags` names those that a flag of the command line has set. */
export function describeConfig(env: Environment, flags: readonly string[] = []): SettingReport[] {
  const config = readConfig(env)
  return SETTING_NAMES.map((name) => {
    const setting: { fallback?: string; secret?: true } = SETTINGS[name]
    const value = config[name]
    const text = value === undefined ? null : Array.isArray(value) ? value.join(',') : String(value)
    return {
      name,
      value: text !== null && setting.secret ? mask(text) : text,
      source: flags.includes(name) ? 'flag' : env[name] ? 'environment' : 'default',
      default: setting.fallback ?? null,
    }
  })
}

/** Without the settings that only the command line reads. */
export const serviceSettings = (env: Environment, flags?: readonly string[]): SettingReport[] =>
  describeConfig(env, flags).filter(({ name }) => !('client' in SETTINGS[name]))

/** Hides every password, but keeps the rest of a database address recognisable. */
function mask(value: string): string {
  const address = /^(postgres(?:ql)?:\/\/)(?:([^:@/]*)(?::[^/]*)?@)?([^?]*)/.exec(value)
  return address ? `${address[1]}${address[2] ? `${address[2]}:•••@` : ''}${address[3]}` : '•••'
}
