import type { Command } from 'commander'
import { exampleText } from './examples.ts'
import { EXIT, ExitWith } from './exit.ts'
import type { Io } from './io.ts'

/** What is done on the machine of the service. */
export function addServiceCommands(program: Command, io: Io): void {
  program
    .command('serve')
    .summary('run the service')
    .description(
      'Runs the service until it is told to stop. Settings are environment variables: jeton config',
    )
    .addHelpText(
      'after',
      exampleText([
        'jeton serve --port 9000',
        'JETON_DATABASE_URL=postgres://jeton@db1/jeton jeton serve',
        'JETON_WORKERS=4 jeton serve',
      ]),
    )
    .option('--port <number>', 'port to listen on, instead of JETON_PORT')
    .option('--no-worker', 'leave the sending of events to others: jeton worker')
    .action(async (options) => (await import('./serve.ts')).serve(options))

  program
    .command('worker')
    .summary('only send events, beside services on the same store')
    .description(
      'Sends events until it is told to stop, and serves no API. Any number of workers share a store; `jeton serve` has one inside unless it is started with --no-worker. With JETON_MANAGEMENT_PORT it answers /health and /metrics there.',
    )
    .addHelpText('after', exampleText(['JETON_DATABASE_URL=postgres://… jeton worker']))
    .action(async () => (await import('./worker.ts')).work())

  program
    .command('migrate')
    .summary('bring the store up to date without serving')
    .description('Brings the store that the settings name up to date. `serve` does the same when it starts.')
    .option('--plan', 'only say what would be done')
    .option('--json', 'for programs')
    .action(async (options) => (await import('./migrate.ts')).migrateStore(io, options))

  program
    .command('rotate-encryption-key')
    .summary('encrypt stored secrets under the newest key')
    .description(
      'Encrypts the secrets of webhooks under the first key of JETON_ENCRYPTION_KEY (SQLite: of the file encryption.key), so that the keys after it can be taken away. Services may run meanwhile if they have all of these keys.',
    )
    .option('--plan', 'only say what would be done')
    .option('--json', 'for programs')
    .addHelpText(
      'after',
      exampleText([
        'JETON_ENCRYPTION_KEY=<new>,<old> jeton rotate-encryption-key',
        'jeton rotate-encryption-key --plan',
      ]),
    )
    .action(async (options) => (await import('./rotate-encryption-key.ts')).rotateEncryptionKey(io, options))

  program
    .command('config')
    .summary('settings of this shell, and where each came from')
    .description(
      'Prints the settings that a service started from this shell would have, and where each came from. Secrets are masked.',
    )
    .option('--json', 'for programs')
    .action(async (options) => (await import('./show-config.ts')).showConfig(io, options))

  program
    .command('doctor')
    .summary('check settings, store, clock, port, permissions, proxies')
    .description(
      'Checks settings, store, clock, ports, permissions and proxies, and says what to type. It reads the settings of this shell: run it with the environment of the service. ? is what it could not see. It changes nothing.',
    )
    .option('--production', 'also check what matters before real clients come')
    .option('--json', 'for programs')
    .addHelpText('after', exampleText(['jeton doctor', 'jeton doctor --production || exit 1']))
    .action(async (options) => {
      const healthy = await (await import('./doctor/doctor.ts')).doctor(io, options)
      if (!healthy) throw new ExitWith(EXIT.configuration)
    })

  program
    .command('backup')
    .summary('copy the whole store into a file, while the service runs')
    .description(
      'Copies everything that the store holds at one moment into one file, while the service runs. The file can be restored into SQLite and PostgreSQL alike.',
    )
    .argument('<file>', 'where to write it; never over another')
    .option('--json', 'for programs')
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
    .summary('make a store from such a file; the service must not run')
    .description(
      'Makes the store that the settings name what it was when the backup was taken. Every token is dead afterwards. The service must not run meanwhile.',
    )
    .argument('<file>', 'written by jeton backup, from SQLite or PostgreSQL')
    .option('--replace', 'lose what the store holds now')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      exampleText([
        'JETON_DATA_DIR=/var/lib/jeton jeton restore jeton-2026-01-15.backup',
        'JETON_DATABASE_URL=postgres://… jeton restore from-sqlite.backup   # moves to PostgreSQL',
      ]),
    )
    .action(async (file, options) => (await import('./restore.ts')).restoreStore(io, file, options))
}
