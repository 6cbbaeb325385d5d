/** A small server that speaks Prometheus's wire format: many names, and a few metrics that have series. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

const SERVICES = ['cart', 'checkout', 'pay']
const FILLING = Array.from({ length: 3_000 }, (_, i) => `app_filler_metric_${i}_total`)
const ZONED = ['queue_depth', 'queue_oldest_seconds']
const NAMES = [...FILLING, 'http_requests_total', ...ZONED, 'up'].sort()

/** Every metric is one series for each service; those of queues have a zone, too. */
const seriesOf = (name: string) =>
  SERVICES.map((service, i) => ({
    metric: { __name__: name, service, job: 'shop', ...(ZONED.includes(name) ? { zone: 'eu' } : {}) },
    value: [1_700_000_000, String(3 + i)],
  }))

export async function startPrometheus() {
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const found = path.endsWith('/labels')
      ? ['__name__', 'job', 'lost', 'service', 'zone']
      : path.endsWith('/values')
        ? NAMES
        : resultOf(await queryOf(request))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ status: 'success', data: found }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function queryOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of request) body += String(part)
  return new URLSearchParams(body).get('query') ?? ''
}

/** Answers the three forms discovery and the proposed config ask in. */
function resultOf(query: string): object {
  const label = /\{(\w+)!=""\}/.exec(query)?.[1]
  const named = /__name__=~?"([^"]+)"/.exec(query)?.[1]?.split('|') ?? []
  const result =
    label === undefined
      ? NAMES.filter((name) => named.includes(name)).flatMap(seriesOf)
      : (label === 'zone' ? ZONED : []).map((name) => ({ metric: { __name__: name }, value: [1, '1'] }))
  return { resultType: 'vector', result }
}
