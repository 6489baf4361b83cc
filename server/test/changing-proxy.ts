import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** Called with the number of each request that may change something. A hook that returns false cuts the connection instead of an answer. */
interface Hooks {
  before?(number: number): Promise<boolean>
  after?(number: number): Promise<boolean>
}

/** Passes requests on to a service, and stops at those that may change something. Returns its address. */
export async function startChangingProxy(target: string, { before, after }: Hooks): Promise<string> {
  let changing = 0
  const server = createServer(async (request, response) => {
    const number = request.method === 'GET' ? undefined : ++changing
    if (number !== undefined && before && !(await before(number))) return void request.socket.destroy()
    const answer = await pass(target, request)
    if (number !== undefined && after && !(await after(number))) return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function pass(target: string, request: IncomingMessage): Promise<Response> {
  const body = await buffer(request)
  const { host, connection, ...headers } = request.headers as Record<string, string>
  return fetch(target + request.url, {
    method: request.method!,
    headers,
    ...(body.length > 0 && { body }),
  })
}
