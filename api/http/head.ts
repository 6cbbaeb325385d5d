/** HEAD: the GET of its address, answered without a body (RFC 9110, section 9.3.2). */
import type { IncomingMessage } from 'node:http'

const heads = new WeakSet<IncomingMessage>()

/** Makes a HEAD the GET of its address: Node, which read the request, sends no body to it. @returns its address */
export function asGet(request: IncomingMessage): string {
  if (request.method === 'HEAD') {
    heads.add(request)
    request.method = 'GET'
  }
  return senderPath(request.url!)
}

/**
 * What posts to an Alertmanager puts its path behind the address it is given: Prometheus, vmalert, and the rulers of Loki
 * and Mimir. The address is an ingest URL then.
 */
const senderPath = (url: string): string =>
  url.startsWith('/ingest/') ? url.replace(/^(\/ingest\/[^/?]+)\/api\/v[12]\/alerts(?=\?|$)/, '$1') : url

/** Whether it came as a HEAD: what goes on, such as a stream, ends with its headers. */
export const isHead = (request: IncomingMessage): boolean => heads.has(request)
