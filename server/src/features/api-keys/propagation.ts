import { type Static, Type } from 'typebox'
import { nullable, strict } from '../../platform/http/index.ts'

const MAX_WAIT_MS = 5_000

export const WaitQuery = strict({
  wait_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_MS,
      default: 0,
      description: 'Milliseconds that the answer may wait until every process applies the change.',
    }),
  ),
})

export const Propagation = Type.Object(
  {
    processes: Type.Integer({
      description: 'Processes that answer requests, including those not heard of for up to 35 s.',
    }),
    confirmed: Type.Integer({
      description:
        'Those that apply the change: the one that answers, and all that started a poll of the key state after the commit.',
    }),
    after_ms: Type.Integer({ description: 'Milliseconds between the commit and this count.' }),
    by_process: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the process.' }),
        host: Type.String({ description: 'Host that it runs on.' }),
        pid: Type.Integer({ description: 'Its process id there.' }),
        after_ms: nullable<number>('integer', {
          description: 'Milliseconds until it was seen to apply the change; null if it was not.',
        }),
      }),
      {
        description:
          'The same for each of these processes; the one that answers comes first. Empty for operators who are limited to projects.',
      },
    ),
  },
  { description: 'How far the change has spread.' },
)

interface Spreading {
  readonly version: number
  readonly waitMs: number
  readonly signal: AbortSignal
}

/** Waits until every process applies the change with this version, or until the time is over. */
export type WaitForPropagation = (change: Spreading) => Promise<Static<typeof Propagation>>
