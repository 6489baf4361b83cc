/** Settings: declared once, read from the given environment, and documented. */
export { documentSettings } from './document-settings.ts'
export {
  describeConfig,
  type Environment,
  readConfig,
  type SettingReport,
  serviceSettings,
} from './read-config.ts'
export type { Config } from './settings.ts'
