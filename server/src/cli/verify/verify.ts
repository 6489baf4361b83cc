import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { EXIT, ExitWith, wrongUsage } from '../exit.ts'
import { durationMs, exampleText } from '../format.ts'
import { type Io, printLine } from '../io.ts'
import { printSteps } from '../print.ts'
import { type CapturedRequest, readHeaders, readRequest } from './captured-request.ts'
import { checkSignature, type Verdict } from './check-signature.ts'

interface VerifyOptions {
  readonly secret?: string[]
  readonly tolerance: string
  readonly header?: string[]
  readonly bodyFile?: string
  readonly json?: boolean
}

/** Checks the signature of a captured request offline. Exit code 1 if it does not match. */
export async function verify(io: Io, options: VerifyOptions): Promise<void> {
  const toleranceMs = durationMs('--tolerance', options.tolerance)
  const secrets = options.secret ?? [await promptForSecret(io)]
  const request = await requestOf(io, options)
  const results = secrets.map((secret) => checkSignature({ request, secret, toleranceMs, now: io.now() }))
  const verdict = results.find(({ fits }) => fits) ?? results[0]!
  print(io, verdict, options)
  if (!verdict.fits) throw new ExitWith(EXIT.refused)
}

async function promptForSecret(io: Io): Promise<string> {
  const secret = await io.ask?.('Secret (whsec_…, not shown): ', { hidden: true })
  if (!secret) throw wrongUsage('Missing required flag: --secret (the secret of the webhook, whsec_…).')
  return secret
}

async function requestOf(io: Io, { header, bodyFile }: VerifyOptions): Promise<CapturedRequest> {
  if (!header && bodyFile !== undefined) throw wrongUsage('--body-file requires --header.')
  if (!header) return readRequest(await inputOf(io, undefined))
  return { headers: readHeaders(header), body: await inputOf(io, bodyFile) }
}

async function inputOf(io: Io, file: string | undefined): Promise<string> {
  const text = file === undefined ? await io.readInput() : fileText(file)
  if (text.trim() === '')
    throw wrongUsage('Missing request on standard input: jeton verify --secret whsec_… < request.http')
  return text
}

function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw wrongUsage(`--body-file: cannot read ${file} (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function print(io: Io, verdict: Verdict, { json }: VerifyOptions): void {
  if (json) {
    printLine(io, JSON.stringify(verdict))
    return
  }
  printLine(io, verdict.fits ? 'The signature matches.' : `The signature does not match: ${verdict.reason}`)
  printSteps(io, verdict.steps, verdict.remedy)
}

const collect = (value: string, previous: string[] = []): string[] => [...previous, value]

export function addVerify(program: Command, io: Io): void {
  program
    .command('verify')
    .summary('find out why a signature does not match')
    .description(
      'Checks the signature of a captured request, and names the reason if it does not match. It works offline. Exit code 1 if the signature does not match.',
    )
    .option('--secret <secret>', 'secret of the webhook, whsec_…; can be repeated during a rotation', collect)
    .option('--tolerance <time>', 'maximum difference between the timestamp and now', '5m')
    .option('--header <header>', 'a header, "name: value"; standard input is then the body', collect)
    .option('--body-file <file>', 'with --header: read the body from a file')
    .option('--json', 'JSON output')
    .addHelpText(
      'after',
      exampleText([
        'jeton verify --secret whsec_… < request.http   # headers, an empty line, the body',
        "jeton verify --secret whsec_… --header 'webhook-id: whs_…' --header 'webhook-timestamp: …' --header 'webhook-signature: v1,…' --body-file body.json",
      ]),
    )
    .action((options) => verify(io, options))
}
