import type { Command } from 'commander'
import { addConnectionOptions } from './connection.ts'
import { EXIT, ExitWith } from './exit.ts'
import { exampleText } from './format.ts'
import type { Io } from './io.ts'

const LOCAL_TEXT = 'ask no service: use the settings of this shell'

/** Commands for the machine of the service. Each loads its module on demand, because loading the service is slow. */
export function addServiceCommands(program: Command, io: Io): void {
  program
    .command('serve')
    .summary('run the service')
    .description('Runs the service until it is stopped. Settings are environment variables: jeton config')
    .addHelpText(
      'after',
      exampleText([
        'jeton serve --port 9000',
        'JETON_DATABASE_URL=postgres://jeton@db1/jeton jeton serve',
        'JETON_WORKERS=4 jeton serve',
      ]),
    )
    .option('--port <number>', 'port to listen on, instead of JETON_PORT')
    .option('--no-worker', 'do not deliver events in this process: jeton worker does')
    .action(async (options) => (await import('./serve.ts')).serve(options))

  program
    .command('worker')
    .summary('only deliver events, for services on the same store')
    .description(
      'Delivers events until it is stopped, and serves no API. Any number of workers can share a store; `jeton serve` includes one unless it is started with --no-worker. With JETON_MANAGEMENT_PORT it serves /health and /metrics there.',
    )
    .addHelpText('after', exampleText(['JETON_DATABASE_URL=postgres://… jeton worker']))
    .action(async () => (await import('./serve.ts')).work())

  program
    .command('migrate')
    .summary('apply migrations without serving')
    .description('Applies pending migrations to the store. `jeton serve` does the same when it starts.')
    .option('--plan', 'print what would be done')
    .option('--json', 'JSON output')
    .action(async (options) => (await import('./store.ts')).migrateStore(io, options))

  program
    .command('rotate-encryption-key')
    .summary('re-encrypt stored secrets with the newest key')
    .description(
      'Re-encrypts the secrets of webhooks with the first key of JETON_ENCRYPTION_KEY (SQLite: of the file encryption.key), so that the other keys can be removed. Services can keep running if they have all of these keys.',
    )
    .option('--plan', 'print what would be done')
    .option('--json', 'JSON output')
    .addHelpText(
      'after',
      exampleText([
        'JETON_ENCRYPTION_KEY=<new>,<old> jeton rotate-encryption-key',
        'jeton rotate-encryption-key --plan',
      ]),
    )
    .action(async (options) => (await import('./local-commands.ts')).rotateEncryptionKey(io, options))

  const config = program
    .command('config')
    .summary('settings of the running service and where each comes from')
    .description(
      'Prints the settings of the running service, and where each comes from. Without a service that answers, it prints those of a service started from this shell. It says which. Secrets are masked.',
    )
    .option('--local', LOCAL_TEXT)
    .option('--json', 'JSON output')
    .addHelpText('after', exampleText(['jeton config', 'jeton config --local']))
  addConnectionOptions(config).action(async (options) =>
    (await import('./show-config.ts')).showConfig(io, options),
  )

  const doctor = program
    .command('doctor')
    .summary('check settings, store, clock, ports and permissions')
    .description(
      'Checks settings, store, clock, permissions and proxies inside the running service, and says how to fix problems. Without a service that answers, it checks the settings of this shell, and its ports. It says which. ? marks what it cannot check. It changes nothing. Exit code 78 if a check fails.',
    )
    .option('--production', 'also check the list before going live')
    .option('--local', LOCAL_TEXT)
    .option('--json', 'JSON output')
    .addHelpText(
      'after',
      exampleText([
        'jeton doctor',
        'jeton doctor --production || exit 1',
        'JETON_DATABASE_URL=postgres://… jeton doctor --local   # before the first start',
      ]),
    )
  addConnectionOptions(doctor).action(async (options) => {
    const healthy = await (await import('./doctor/doctor.ts')).doctor(io, options)
    if (!healthy) throw new ExitWith(EXIT.configuration)
  })

  program
    .command('backup')
    .summary('write a snapshot of the store while the service runs')
    .description(
      'Writes a consistent snapshot of the store to one file while the service runs. It can be restored into SQLite or PostgreSQL.',
    )
    .argument('<file>', 'file to create; an existing file is never overwritten')
    .option('--json', 'JSON output')
    .addHelpText(
      'after',
      exampleText([
        'jeton backup jeton-2026-01-15.backup',
        'JETON_DATABASE_URL=postgres://… jeton backup /mnt/a.backup',
      ]),
    )
    .action(async (file, options) => (await import('./backup.ts')).backup(io, file, options))

  program
    .command('restore')
    .summary('restore a backup; the service must be stopped')
    .description('Restores a backup into the store. All tokens stop working. The service must be stopped.')
    .argument('<file>', 'backup of SQLite or PostgreSQL, written by jeton backup')
    .option('--replace', 'replace the current data of the store')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      exampleText([
        'JETON_DATA_DIR=/var/lib/jeton jeton restore jeton-2026-01-15.backup',
        'JETON_DATABASE_URL=postgres://… jeton restore from-sqlite.backup   # moves to PostgreSQL',
      ]),
    )
    .action(async (file, options) => (await import('./backup.ts')).restoreStore(io, file, options))
}
