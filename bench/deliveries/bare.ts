/** Posts the same bytes over and over, as plainly as undici can. */
import { Agent, request } from 'undici'
import type { BareTask } from './protocol.ts'

process.on('disconnect', () => process.exit(1))
process.once('message', async ({ urls, headers, body, count, connections }: BareTask) => {
  const dispatcher = new Agent({ connections })
  const bytes = Buffer.from(body)
  let begun = 0
  async function postNext(): Promise<void> {
    while (begun < count) {
      const url = urls[begun++ % urls.length]!
      const answer = await request(url, { method: 'POST', dispatcher, headers, body: bytes })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: connections }, postNext))
  process.send!('done')
})
