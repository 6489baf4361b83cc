import { IncomingMessage } from 'node:http'
import { errorCodes } from 'fastify'

type Taken = (error: Error | null, body?: Buffer) => void

/**
 * A request whose body can be taken as the parser of HTTP hands it over. Forms are small and have mostly arrived with
 * their head; as a stream each would cost five events and three turns of the tick queue (measured: 4 µs of 23).
 */
export class WholeBodyRequest extends IncomingMessage {
  #take: ((chunk: Buffer | null) => void) | undefined

  takeBody(mostBytes: number, taken: Taken): void {
    if (Number(this.headers['content-length']) > mostBytes) {
      taken(tooLarge())
      return
    }
    const chunks: Buffer[] = []
    let length = 0
    this.#take = (chunk) => {
      if (chunk !== null) {
        length += chunk.length
        if (length <= mostBytes) return void chunks.push(chunk)
      }
      this.#take = ignore
      if (chunk !== null) taken(tooLarge())
      else taken(null, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length))
    }
    // Where something took its time before this, the body has begun to arrive.
    if (this.readableLength > 0) this.#take(this.read())
    if (this.complete) this.#take(null)
  }

  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (!this.#take) return super.push(chunk, encoding)
    this.#take(chunk)
    // The stream ends all the same, or Node would wait for it before the next request on the connection.
    return chunk === null ? super.push(null) : true
  }
}

const ignore = (): void => undefined
const tooLarge = (): Error => new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
