import type { Command } from 'commander'
import { PROJECT_TEXT } from './client-options.ts'
import { addConnectionOptions } from './connection.ts'
import { exampleText } from './examples.ts'
import type { Io } from './io.ts'

/** What is done from anywhere, and is not about one resource. */
export function addAccessCommands(program: Command, io: Io): void {
  addTour(program, io)
  const explain = program
    .command('explain')
    .summary('why a request was refused, step by step')
    .description(
      'Says which check a request failed and what would mend it. Refusals (401, 403, 429) are kept for 24 hours.',
    )
    .argument('<request>', 'request id of the answer: v-…, also in X-Request-Id')
    .option('--json', 'the answer of the API, unchanged')
    .addHelpText(
      'after',
      exampleText(['jeton explain v-0f2a91c77be3d04411', 'jeton refusal list   # the latest ones']),
    )
  addConnectionOptions(explain)
  explain.action(async (id, options) => (await import('./explain.ts')).explain(io, id, options))

  const check = program
    .command('check')
    .summary('may this token or key make this call?')
    .description(
      'Asks whether a token or key may call a path, step by step, with what would mend it. Not allowed is exit code 1.',
    )
    .argument('<credential>', 'an access token (jtn_…), or the name, id or app id of a key')
    .argument('<method>', 'GET, POST, … (for people: it does not change the answer)')
    .argument('<path>', '/v1/… or /client/v1/…')
    .option('--from <address>', 'IP address that the call comes from')
    .option('--project <project>', `of the key: ${PROJECT_TEXT}`)
    .option('--json', 'the answer of the API, unchanged')
    .addHelpText(
      'after',
      exampleText([
        'jeton check Quickstart GET /v1/rewards',
        'jeton check "$TOKEN" GET /v1/rewards --from 10.0.0.4',
      ]),
    )
  addConnectionOptions(check)
  check.action(async (credential, method, path, options) =>
    (await import('./check-call.ts')).checkCall(io, { credential, method, path }, options),
  )

  program
    .command('login')
    .summary('keep the credential of a server for the next commands')
    .description(
      'Checks an operator’s credential and keeps it in a file that only you can read. What is not given is asked for; the token may also come from standard input.',
    )
    .option('--url <url>', 'address of the server')
    .option('--id <id>', 'operator (X-Management-Id)')
    .option('--token <token>', 'its token (X-Management-Token)')
    .option('--project <project>', 'default project, id or name')
    .addHelpText('after', exampleText(['jeton login --url https://jeton.example --id op_5Hq2… < token.txt']))
    .action(async (options) => (await import('./login.ts')).login(io, options))

  const api = program
    .command('api')
    .summary('call the management API as it is')
    .description('Sends one request with your credential and prints the answer.')
    .argument('<method>', 'GET, POST, PATCH, PUT or DELETE')
    .argument('<path>', '/management/v1/…')
    .option('--data <json>', 'body: JSON, @file, or - for standard input')
    .option('--curl', 'print the request as a curl command instead of sending it')
    .addHelpText(
      'after',
      exampleText([
        'jeton api GET /management/v1/projects',
        'jeton api POST /management/v1/projects --data \'{"name":"Club"}\'',
      ]),
    )
  addConnectionOptions(api)
  api.action(async (method, path, options) =>
    (await import('./call-raw.ts')).callRaw(io, { method, path }, options),
  )
}

function addTour(program: Command, io: Io): void {
  const tour = program
    .command('tour')
    .summary('see every promise kept, in about 20 seconds')
    .description(
      'Shows the promises one by one, with what really happened, on a project of its own that it deletes afterwards. Anything else than promised is exit code 1.',
    )
    .option('--verbose', 'what each step proves, every request as curl, every answer')
    .option('--json', 'for programs')
    .addHelpText(
      'after',
      exampleText(['jeton tour', 'jeton tour --verbose | less', 'jeton tour --json | jq .as_promised']),
    )
  addConnectionOptions(tour).option(
    '--api-url <url>',
    'where API clients call, if JETON_MANAGEMENT_PORT is set',
  )
  tour.action(async (options) => (await import('./tour/tour.ts')).tour(io, options))
}
