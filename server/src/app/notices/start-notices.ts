import { Problem } from '../../contract/problem.ts'
import { standardSignature, voucherifySignature } from '../../features/deliveries/index.ts'
import { findFirstProcessId } from '../../features/processes/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Log } from '../../platform/log.ts'
import { checkTargetUrl, createEgressPolicy, createSender } from '../../platform/outbound/index.ts'
import { type JobState, startPeriodic } from '../../platform/periodic.ts'
import { StartFailure } from '../../platform/start-failure.ts'
import type { Attention } from '../attention/attention.ts'
import { VERSION } from '../version.ts'
import type { Message } from './notice.ts'
import { OutageNotice } from './outage-notice.ts'
import { createNoticeRecorder, RECORD_EVERY_MS } from './record-notices.ts'
import { createNoticeSender, SEND_EVERY_MS } from './send-notices.ts'

/** Refuses to start with a URL that notices can never be sent to. */
export function checkNoticeUrl({ JETON_NOTICE_URL: url, JETON_WEBHOOK_ALLOW: allow }: Config): void {
  if (url === undefined) return
  try {
    checkTargetUrl(url, createEgressPolicy(allow))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const why = [error.message, error.details].join(' ').replace('target_url', 'it')
    throw new StartFailure(`JETON_NOTICE_URL: ${why}`)
  }
}

interface Parts {
  readonly config: Config
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
  readonly jobs?: JobState[]
  readonly processId: string
  /** Address of the service, which tells its notices from those of others. */
  readonly service: () => string
  readonly listAttention: () => Promise<readonly Attention[]>
}

/** Reports problems to JETON_NOTICE_URL, with connections of its own, so that a slow receiver delays nothing else. */
export function startNotices(parts: Parts): { stop(): Promise<void> } {
  const { config, db, log, service } = parts
  const [url, secret] = [config.JETON_NOTICE_URL!, config.JETON_NOTICE_SECRET!]
  const salt = `${secret} ${config.JETON_PUBLIC_URL ?? ''}`
  const policy = createEgressPolicy(config.JETON_WEBHOOK_ALLOW)
  const sender = createSender({ policy, userAgent: `Jeton/${VERSION}` })
  let isFailing = false

  async function post({ id, body }: Message): Promise<boolean> {
    const timestamp = Math.floor((await db.now()) / 1000)
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': standardSignature([secret], { id, timestamp, body }),
      // For receivers that can only check the HMAC of a body.
      'x-voucherify-signature': voucherifySignature(secret, body),
    }
    const { status, error } = await sender.send({ url, headers, body })
    const isSent = error === null && status !== null && status >= 200 && status < 300
    // Logged once per outage.
    if (!isSent && !isFailing)
      log.warn({ reason: error ?? `answered ${status}` }, 'a notice was not accepted')
    if (isSent && isFailing) log.info('notices are accepted again')
    isFailing = !isSent
    return isSent
  }

  const isFirst = async () => [undefined, parts.processId].includes(await findFirstProcessId(db))
  const outage = new OutageNotice({ db, salt, service, isFirst, post })
  const sending = startPeriodic(parts, {
    name: 'send notices',
    purpose: 'Sends notices to JETON_NOTICE_URL',
    everyMs: SEND_EVERY_MS,
    run: createNoticeSender({ db, service, post }),
  })
  const recording = startPeriodic(parts, {
    name: 'notices',
    purpose: 'Finds new problems and those that have ended',
    everyMs: RECORD_EVERY_MS,
    run: createNoticeRecorder({
      ...{ db, outage, salt, listAttention: parts.listAttention },
      onNew: sending.soon,
    }),
  })
  return {
    async stop() {
      await sender.close()
      await Promise.all([recording.stop(), sending.stop()])
    },
  }
}
