/** A real HTTP server on loopback that remembers what came and answers as a test says. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}
export type Answer = (received: Received, response: http.ServerResponse) => void

export interface Receiver {
  url: string
  port: number
  received: Received[]
  connections: number
  /** Resolves once so many requests came in all. */
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

export async function startReceiver(answer: Answer, host = '127.0.0.1'): Promise<Receiver> {
  const waiters: { count: number; go: () => void }[] = []
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const one: Received = {
      method: request.method!,
      path: request.url!,
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    }
    receiver.received.push(one)
    for (const { count, go } of waiters) if (receiver.received.length >= count) go()
    answer(one, response)
  })
  server.on('connection', () => receiver.connections++)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/`,
    port,
    received: [],
    connections: 0,
    arrived: (count) =>
      new Promise((go) => (receiver.received.length >= count ? go() : waiters.push({ count, go }))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}

/** Answers with a status, headers and a body. */
export function say(status: number, headers: Record<string, string> = {}, body = ''): Answer {
  return (_received, response) => void response.writeHead(status, headers).end(body)
}
