import { SETTINGS } from './settings.ts'

/** Generates `docs/reference/settings.md`. */
export function documentSettings(): string {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => {
    const fallback =
      'fallback' in setting ? (setting.fallback === '' ? 'empty' : `\`${setting.fallback}\``) : 'not set'
    const secret = 'secret' in setting ? ' Secret.' : ''
    const client = 'client' in setting ? ' Command line only.' : ''
    return `| \`${name}\` | ${setting.kind.name} | ${fallback} | ${setting.says}${secret}${client} |`
  })
  return `# Settings

<!-- Generated from server/src/platform/config/settings.ts by \`npm run generate\`. Do not edit. -->

Jeton is configured by environment variables and needs none to start. \`npx jeton config\` prints the values of the running service and
where each came from, \`npx jeton config --local\` those of the shell. \`npx jeton doctor\` checks them. An invalid value, or an unknown
name that begins with \`JETON_\`, stops the start with one line that says what to fix, and exit code 78. Variables that begin with \`OTEL_\`
are those of OpenTelemetry, for [traces](../operate/monitor.md#traces).

| variable | type | default | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}
