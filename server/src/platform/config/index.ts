/** Settings: declared once, read from the environment, described to people. It never reads anything but what it is handed. */
export { documentSettings } from './document-settings.ts'
export {
  describeConfig,
  type Environment,
  readConfig,
  type SettingReport,
  serviceSettings,
} from './read-config.ts'
export type { Config } from './settings.ts'
