/** An OTLP/HTTP receiver on loopback, which reads what it is sent and answers as the test says. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ReceivedSpan, readTraces } from './otlp.ts'

export interface TraceRequest {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  spans: ReceivedSpan[]
}

export interface TraceReceiver {
  /** Without a trailing slash. */
  url: string
  requests: TraceRequest[]
  /** All spans of all requests. */
  spans(): ReceivedSpan[]
  /** What it answers from now on; a status of 0: nothing. */
  answer(status: number, body?: Buffer): void
  /** Resolves with the next request. */
  next(): Promise<TraceRequest>
  close(): Promise<void>
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const requests: TraceRequest[] = []
  const waiting: ((request: TraceRequest) => void)[] = []
  let reply: { status: number; body: Buffer } = { status: 200, body: Buffer.alloc(0) }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const seen = { path: request.url!, headers: request.headers, body, spans: readTraces(body) }
    requests.push(seen)
    for (const resolve of waiting.splice(0)) resolve(seen)
    if (reply.status === 0) return
    response.writeHead(reply.status, { 'content-type': 'application/x-protobuf' }).end(reply.body)
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => requests.flatMap(({ spans }) => spans),
    answer: (status, body = Buffer.alloc(0)) => {
      reply = { status, body }
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
