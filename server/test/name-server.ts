import { createSocket } from 'node:dgram'

/** Records by name. A name that is not listed does not exist. A silent name gets no response. */
export type Names = Readonly<Record<string, { a?: string; aaaa?: string } | 'silent'>>

const A = 1
const NO_SUCH_NAME = 3

/** A small name server (RFC 1035) over UDP. */
export async function startNameServer(
  names: Names,
): Promise<{ address: string; asked: string[]; close(): void }> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query)
    asked.push(`${name} ${type === A ? 'A' : 'AAAA'}`)
    const known = names[name]
    if (known === 'silent') return
    const address = known && (type === A ? known.a && four(known.a) : known.aaaa && six(known.aaaa))
    const answers = address ? record(type, address) : Buffer.alloc(0)
    const header = Buffer.from([
      query[0]!,
      query[1]!,
      0x81,
      known ? 0x80 : 0x80 | NO_SUCH_NAME,
      0,
      1,
      0,
      address ? 1 : 0,
      0,
      0,
      0,
      0,
    ])
    socket.send(Buffer.concat([header, query.subarray(12, end), answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${socket.address().port}`, asked, close: () => void socket.close() }
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += length + 1
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** For the name that was asked for, which stands at the twelfth byte; to be forgotten at once. */
const record = (type: number, address: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length]), address])

const four = (address: string): Buffer => Buffer.from(address.split('.').map(Number))

/** Written out: eight groups. */
const six = (address: string): Buffer =>
  Buffer.from(
    address
      .split(':')
      .map((part) => part.padStart(4, '0'))
      .join(''),
    'hex',
  )
