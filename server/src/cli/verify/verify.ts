import { readFileSync } from 'node:fs'
import { durationMs } from '../duration.ts'
import { EXIT, ExitWith, wrongUsage } from '../exit.ts'
import { type Io, printLine } from '../io.ts'
import { printLadder } from '../print-ladder.ts'
import { type CapturedRequest, readHeaders, readRequest } from './captured-request.ts'
import { judgeRequest } from './judge-request.ts'
import type { Judgement } from './ladder.ts'

interface VerifyOptions {
  readonly secret?: string[]
  readonly tolerance: string
  readonly header?: string[]
  readonly bodyFile?: string
  readonly json?: boolean
}

/** Whether the signature of a captured request fits, and if not, why. No server is asked. Not fitting is exit code 1. */
export async function verify(io: Io, options: VerifyOptions): Promise<void> {
  const toleranceMs = durationMs('--tolerance', options.tolerance)
  const secrets = options.secret ?? [await askedSecret(io)]
  const request = await requestOf(io, options)
  const judgements = secrets.map((secret) => judgeRequest({ request, secret, toleranceMs, now: io.now() }))
  const judgement = judgements.find(({ fits }) => fits) ?? judgements[0]!
  print(io, judgement, options)
  if (!judgement.fits) throw new ExitWith(EXIT.refused)
}

async function askedSecret(io: Io): Promise<string> {
  const secret = await io.ask?.('Secret (whsec_…, not shown): ', { hidden: true })
  if (!secret) throw wrongUsage('--secret is needed: the secret of the webhook, whsec_….')
  return secret
}

async function requestOf(io: Io, { header, bodyFile }: VerifyOptions): Promise<CapturedRequest> {
  if (!header && bodyFile !== undefined) throw wrongUsage('--body-file goes with --header.')
  if (!header) return readRequest(await inputOf(io, undefined))
  return { headers: readHeaders(header), body: await inputOf(io, bodyFile) }
}

async function inputOf(io: Io, file: string | undefined): Promise<string> {
  const text = file === undefined ? await io.readInput() : fileText(file)
  if (text.trim() === '')
    throw wrongUsage('There is no request. Give one: jeton verify --secret whsec_… < request.http')
  return text
}

function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw wrongUsage(`--body-file: cannot read ${file} (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function print(io: Io, judgement: Judgement, { json }: VerifyOptions): void {
  if (json) {
    printLine(io, JSON.stringify(judgement))
    return
  }
  printLine(io, judgement.fits ? 'The signature fits.' : `The signature does not fit: ${judgement.reason}`)
  printLadder(io, judgement.steps, judgement.remedy)
}
