/** HEAD: the GET of its address, answered without a body (RFC 9110, section 9.3.2). */
import type { IncomingMessage } from 'node:http'

const heads = new WeakSet<IncomingMessage>()

/** Makes a HEAD the GET of its address: Node, which read the request, sends no body to it. @returns its address */
export function asGet(request: IncomingMessage): string {
  if (request.method === 'HEAD') {
    heads.add(request)
    request.method = 'GET'
  }
  return request.url!
}

/** Whether it came as a HEAD: what goes on, such as a stream, ends with its headers. */
export const isHead = (request: IncomingMessage): boolean => heads.has(request)
