/** Headers that keep a browser from being used against the daemon; no CORS header ever. */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'

const protect = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'"],
      // The component kit sets styles on elements.
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  crossOriginResourcePolicy: { policy: 'same-origin' },
  referrerPolicy: { policy: 'no-referrer' },
  frameguard: { action: 'deny' },
  // The daemon speaks plain HTTP on loopback; the proxy that terminates TLS says this.
  strictTransportSecurity: false,
})

/** The headers that every answer has. Helmet's are the same for each: worked out anew they are a tenth of a post's time. */
export function headersOfAll(): [name: string, value: string][] {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  protect(response.req, response, (error?: unknown) => {
    if (error) throw error
  })
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)])
}

/** Every answer has them, that of a refused request or of an event stream too. */
export function sendSecurityHeaders(app: FastifyInstance): void {
  const headers = headersOfAll()
  app.addHook('onRequest', (_request, { raw }, done) => {
    for (const [name, value] of headers) raw.setHeader(name, value)
    done()
  })
}
