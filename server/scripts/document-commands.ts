import { Command, type Option } from 'commander'
import type { Io } from '../src/cli/io.ts'
import { addClientOptions } from '../src/cli/key-pair.ts'
import { type ApiDocument, catalogueOf } from '../src/cli/operations.ts'
import { addOutputOptions } from '../src/cli/print-answer.ts'
import { buildProgram, EXIT_CODES } from '../src/cli/run.ts'

/** Options that most commands have, documented once. */
const COMMON = addOutputOptions(addClientOptions(new Command())).options
const isCommon = ({ flags, description }: Option): boolean =>
  COMMON.some((one) => one.flags === flags && one.description === description)

const cell = (text: string): string => text.replaceAll('|', '\\|')
const row = (...cells: string[]): string => `| ${cells.map(cell).join(' | ')} |`
const optionRow = ({ flags, description, defaultValue }: Option): string =>
  row(`\`${flags}\``, defaultValue ? `${description} (default: ${defaultValue})` : description)
const table = (heading: string, rows: readonly string[]): string =>
  rows.length > 0 ? `| ${heading} | meaning |\n|---|---|\n${rows.join('\n')}\n` : ''

/** Generates `docs/reference/cli.md` from the declarations of the commands. */
export function documentCommands(api: ApiDocument): string {
  let printed = ''
  const stdout = { write: (text: string) => (printed += text) }
  const io = { argv: [], env: {}, isTTY: false, stdout, stderr: stdout } as unknown as Io
  const program = buildProgram(io, catalogueOf(api))

  /** Commander stores examples only as text of the help. */
  const examplesOf = (command: Command): string => {
    printed = ''
    command.outputHelp()
    return /\nExamples\n([\s\S]*)$/.exec(printed)?.[1]?.replaceAll(/^ {2}/gm, '').trimEnd() ?? ''
  }

  function section(command: Command, parent: string, level: string): string {
    const name = `${parent} ${command.name()}`
    const heading = `${level} ${name}\n`
    if (command.commands.length > 0)
      return [heading, ...command.commands.map((verb) => section(verb, name, `${level}#`))].join('\n')
    const arguments_ = command.registeredArguments.map((one) =>
      row(`\`${one.required ? `<${one.name()}>` : `[${one.name()}]`}\``, one.description),
    )
    const own = command.options.filter((option) => !option.hidden && !isCommon(option)).map(optionRow)
    const examples = examplesOf(command)
    return [
      heading,
      `${command.description() || `${command.summary()}.`}\n`,
      `\`\`\`text\n${name} ${command.usage()}\n\`\`\`\n`,
      table('argument', arguments_),
      table('option', own),
      examples && `Examples:\n\n\`\`\`text\n${examples}\n\`\`\`\n`,
    ]
      .filter(Boolean)
      .join('\n')
  }

  const groups = [...new Set(program.commands.map((command) => command.helpGroup()))]
  const sections = groups.map((group) => {
    const commands = program.commands.filter((command) => command.helpGroup() === group)
    return `## ${group}\n\n${commands.map((command) => section(command, 'jeton', '###')).join('\n')}`
  })
  return `# Command line

<!-- Generated from the commands in server/src/cli by \`npm run generate\`. Do not edit. -->

In a checkout, run \`npx jeton\`. An installed package has the command \`jeton\`. \`jeton help key create\` prints the help of a command.

- **Credentials**, in order of precedence: the flags \`--management-id\` and \`--management-token\`, the variables
  \`JETON_MANAGEMENT_ID\` and \`JETON_MANAGEMENT_TOKEN\`, the profile in \`~/.config/jeton/config.json\`. \`jeton login\` and the first start
  write the profile.
- **Project**: \`--project\`, then \`JETON_PROJECT\`, then the profile, then the only project.
- **Output**: a table in a terminal, otherwise lines with tabs. Notes and errors go to standard error.
- **Deleting** asks for confirmation. Without a terminal it requires \`--yes\`.

| exit code | meaning |
|---|---|
${EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}

Commands that call a server have these options, as far as they apply. \`jeton help\` with the command lists the exact set.

${table('option', COMMON.map(optionRow))}
${sections.join('\n')}`
}
