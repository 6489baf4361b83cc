import { connect, type Socket } from 'node:net'

/** A request of which one half has been sent, and the way to send the other. */
export async function halfRequest(url: string): Promise<{ socket: Socket; finish: () => Promise<string> }> {
  const { hostname, port } = new URL(url)
  const body = 'token=x'
  const head = `POST /v1/oauth/introspect HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\n`
  const socket = await new Promise<Socket>((resolve) => {
    const opened = connect(Number(port), hostname, () => resolve(opened))
  })
  socket.on('error', () => undefined)
  socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, 3)}`)
  return {
    socket,
    finish: () =>
      new Promise((resolve) => {
        let text = ''
        socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        socket.on('close', () => resolve(text))
        socket.write(body.slice(3))
      }),
  }
}

/** Whether nobody listens there any more. */
export function refuses(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => resolve(socket.destroy() === undefined))
    socket.on('error', () => resolve(true))
  })
}
