/**
 * Requests that Node's HTTP parser gives up before there is one to answer: headers that are too large or do not
 * come, a request line that is none. They have the one error form, too (SPEC.md, Errors); what Node, or Fastify in
 * its place, says by itself is a status alone, or another form.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

interface Refused {
  status: number
  /** As the status line has it (RFC 9110, section 15). */
  reason: string
  detail: string
}

/** Codes of Node's parser (llhttp) and of its watch over headers; all others are a request that cannot be read. */
const REFUSALS: Readonly<Record<string, Refused>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    detail: 'the headers are larger than 16 KiB',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    reason: 'Content Too Large',
    detail: 'the extensions of a chunk of the body are larger than 16 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    detail: 'the headers did not come within 10 s',
  },
  HPE_INVALID_METHOD: {
    status: 400,
    reason: 'Bad Request',
    detail: 'the request line does not begin with a method of HTTP',
  },
}
const UNREADABLE: Refused = {
  status: 400,
  reason: 'Bad Request',
  detail: 'the request is not valid HTTP/1.1',
}
const NO_TUNNEL: Refused = {
  status: 405,
  reason: 'Method Not Allowed',
  detail: 'CONNECT is not supported',
}
const EXPECTS_MORE = { detail: 'Expect must be 100-continue' }
const JSON_TYPE = 'application/json; charset=utf-8'

/** Answers what the parser of a server refuses. Fastify's option `clientErrorHandler`. */
export function refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // An answer that is on its way is not written into; Node looks at the same place for that.
  const answering = (socket as { _httpMessage?: { headersSent: boolean } | null })._httpMessage
  if (!socket.writable || answering?.headersSent) socket.destroy()
  else writeRefusal(socket, REFUSALS[error.code ?? ''] ?? UNREADABLE)
}

/** The rest of what Node answers by itself: CONNECT, and expectations it does not know. */
export function refuseUnasked(server: Server): void {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => writeRefusal(socket, NO_TUNNEL))
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const text = JSON.stringify(EXPECTS_MORE)
    const length = Buffer.byteLength(text)
    response.writeHead(417, { 'content-type': JSON_TYPE, 'content-length': length, connection: 'close' })
    response.end(text)
  })
}

/** Writes a refusal to a connection without a response, and ends it. @param done once it is written */
export function writeRefusal(socket: Duplex, { status, reason, detail }: Refused, done?: () => void): void {
  const text = JSON.stringify({ detail })
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    done,
  )
}
