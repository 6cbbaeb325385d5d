/** Answers of the HTTP transports that are no answers of the protocol. */
import type { ServerResponse } from 'node:http'

/** The protocol's codes: a request that is not right, a session that is not there, anything else of a server. */
const CODES: Record<number, number> = { 400: -32600, 404: -32001, 413: -32600 }
const OTHER = -32000

/** Why a request is not served. */
export class Refusal extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** Code of JSON-RPC. */
  readonly code: number
  constructor(
    status: number,
    message: string,
    headers: Record<string, string> = {},
    code = CODES[status] ?? OTHER,
  ) {
    super(message)
    this.name = 'Refusal'
    this.status = status
    this.headers = headers
    this.code = code
  }
}

/** What is sent cannot be read (JSON-RPC 2.0, section 5.1). */
export const unreadable = (message: string): Refusal => new Refusal(400, message, {}, -32700)

/** The error as the protocol has it, without the id of a request. */
export function refuse(response: ServerResponse, { status, message, headers, code }: Refusal): void {
  sendJson(response, status, { jsonrpc: '2.0', error: { code, message }, id: null }, headers)
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent) return void response.end()
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    // A refusal before the body was read leaves bytes on the wire that are no next request.
    ...(response.req.complete ? {} : { connection: 'close' }),
    ...headers,
  })
  response.end(JSON.stringify(body))
}
