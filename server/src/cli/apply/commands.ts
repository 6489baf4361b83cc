import type { Command } from 'commander'
import { addConnectionOptions } from '../connection.ts'
import { EXIT } from '../exit.ts'
import { exampleText } from '../format.ts'
import type { Io } from '../io.ts'

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** `jeton apply` and `jeton export`. Their modules are loaded on demand, because parsing YAML is rarely needed. */
export function addDeclarativeCommands(program: Command, io: Io): void {
  const apply = program
    .command('apply')
    .summary('set up projects, keys, webhooks and distributions from a file')
    .description(
      `Compares a YAML file with the server, prints the difference and changes only what differs. New secrets go to a file of mode 0600, never to the output. With --plan it changes nothing, and exits with ${EXIT.differs} if something differs.`,
    )
    .requiredOption('-f, --file <file>', 'YAML file; - for standard input')
    .option('--plan', `print the difference only; exit code ${EXIT.differs} if there is one`)
    .option('--prune', 'delete keys, webhooks and distributions that are not in the file; never a project')
    .option('--regenerate', 'replace secrets that an interrupted apply has lost')
    .option('--secrets <file>', 'file for new secrets (default: jeton.secrets.jsonl beside jeton.yaml)')
    .option('--yes', 'do not ask for confirmation before deleting')
    .option('--json', 'JSON output')
    .addHelpText(
      'after',
      exampleText([
        'jeton apply -f jeton.yaml --plan',
        'jeton apply -f jeton.yaml',
        'jeton apply -f jeton.yaml --prune --yes --secrets /run/secrets/jeton.jsonl',
      ]),
    )
  addConnectionOptions(apply).action(async (options) => (await import('./apply.ts')).apply(io, options))

  const exportCommand = program
    .command('export')
    .summary('write such a file from what the server has')
    .description(
      'Prints a YAML file for jeton apply. It contains no secrets: values of headers are variables of the environment.',
    )
    .option('--project <project>', 'id or name; may be repeated (default: all)', collect)
    .addHelpText('after', exampleText(['jeton export > jeton.yaml', 'jeton export --project Club']))
  addConnectionOptions(exportCommand).action(async (options) =>
    (await import('./export.ts')).exportDeclaration(io, options),
  )
}
