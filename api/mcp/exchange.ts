/**
 * One HTTP request to the daemon, on connections that are kept. Not fetch: its streams and headers cost
 * more than the rest of a call.
 */
import { Agent, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'

export interface Sent {
  method: string
  headers: Record<string, string>
  body?: string | Uint8Array | undefined
  signal: AbortSignal
}

export interface Received {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** @returns the whole answer; redirects are not followed. @throws the system's error, or AbortError */
export type Exchange = (url: string, sent: Sent) => Promise<Received>

/** Connections of one process. A kept one that nobody uses does not keep the process alive. */
export function createExchange(): Exchange {
  const kept = { keepAlive: true, maxFreeSockets: 64 }
  const agents = { 'http:': new Agent(kept), 'https:': new TlsAgent(kept) }
  return (url, sent) => {
    const target = new URL(url)
    const isTls = target.protocol === 'https:'
    const { method, headers, signal } = sent
    const options = { method, headers, signal, agent: isTls ? agents['https:'] : agents['http:'] }
    return attempt(isTls ? tlsRequest : request, target, options, sent.body, true)
  }
}

function attempt(
  ask: typeof request,
  target: URL,
  options: RequestOptions,
  body: string | Uint8Array | undefined,
  mayRepeat: boolean,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(options.headers as Record<string, string>),
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    }
    const outgoing = ask(target, { ...options, headers }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.once('error', reject)
      answer.once('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: Buffer.concat(parts).toString(),
        }),
      )
    })
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      // The daemon had closed a kept connection just as it was used: nothing was answered, and what only
      // reads may be asked again.
      if (mayRepeat && outgoing.reusedSocket && error.code === 'ECONNRESET' && options.method === 'GET')
        attempt(ask, target, options, body, false).then(resolve, reject)
      else reject(error)
    })
    outgoing.end(body)
  })
}
