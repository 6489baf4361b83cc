import type { Command } from 'commander'
import { addConnectionOptions } from './connection.ts'

export const PROJECT_TEXT = 'id or name (JETON_PROJECT, else the profile, else the only one)'

/** For commands that call as an API client: the key pair, the project that selects a saved one, the server. */
export const addClientOptions = (command: Command): Command =>
  addConnectionOptions(
    command
      .optionsGroup('API key')
      .option('--project <project>', PROJECT_TEXT)
      .option('--app-id <id>', 'app id of a key (else the one saved for the project)')
      .option('--app-token <token>', 'its secret; asked for, or read from standard input, if not given'),
  )
