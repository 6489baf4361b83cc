import { gatewayOne, introspectOne, issuedToken, issueRequests } from './ask.ts'
import { type Captured, withSubject } from './launch.ts'
import { type Answer, sendOne } from './load/connection.ts'
import type { Subject } from './run-subject.ts'
import type { Stores } from './stores.ts'
import type { CapturedAnswer } from './subjects/protocol.ts'

/** Every server of Node sets these by itself. */
const BY_THE_SERVER = new Set(['connection', 'content-length', 'date', 'keep-alive'])

const headerLines = ({ head }: Answer): [string, string][] =>
  head
    .split('\r\n')
    .slice(1)
    .map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)]
    })

const captured = (answer: Answer): CapturedAnswer => ({
  headers: Object.fromEntries(headerLines(answer).filter(([name]) => !BY_THE_SERVER.has(name))),
  body: answer.body,
  bytes: answer.bytes,
})

async function allAnswers(subject: Subject): Promise<Captured['answers']> {
  const issue = await sendOne(subject.url, issueRequests(subject)[0]!)
  const token = issuedToken(issue)
  return {
    issue: captured(issue),
    introspect: captured(await introspectOne(subject, token)),
    gateway: captured(await gatewayOne(subject, token)),
  }
}

/** Real answers of Jeton, and the clients that asked: the bare servers get the same requests and send the same answers. */
export const captureJeton = (stores: Stores, clients: number): Promise<Captured> =>
  withSubject(stores, 'jeton-sqlite', { clients }, async (subject, task) => ({
    clients: task.clients,
    answers: await allAnswers(subject),
  }))

/** A bare server that sent less than Jeton would be no measure: the headers and the number of bytes must be the same. */
export async function checkBareSendsTheSame(bare: Subject, { answers }: Captured): Promise<void> {
  const sent = await allAnswers(bare)
  for (const kind of ['issue', 'introspect', 'gateway'] as const) {
    const [own, other] = [answers[kind], sent[kind]].map(({ headers, ...rest }) =>
      JSON.stringify({ headers: Object.entries(headers).sort(), ...rest }),
    )
    if (own !== other) throw new Error(`The bare server answers ${other} where Jeton answers ${own}.`)
  }
}
