/** What is answered where there is nothing: a page of the console, or what the path takes, or that it is not known. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import { sendProblem } from './problems.ts'
import { methodsOf } from './scopes.ts'

const API = [
  '/api',
  '/ingest',
  '/read',
  '/remember',
  '/catalog',
  '/mcp',
  '/sse',
  '/messages',
  '/v1',
  '/health',
  '/metrics',
  '/openapi.json',
  '/docs',
]
const SAID_MAX = 200

/** Whether programs ask here, and no person's browser for a page. */
export const isApiPath = (url: string): boolean =>
  API.some((prefix) => url === prefix || url.startsWith(`${prefix}/`) || url.startsWith(`${prefix}?`))

/** Answers a request that no route takes. */
export function notFound(request: FastifyRequest, reply: FastifyReply): unknown {
  const path = request.url.split('?')[0]!
  const unknown = sentenceOf(path)
  if (unknown === null && wantsPage(request, path)) return reply.callNotFoundPage()
  const methods = methodsOf(path)
  if (methods.length > 0) {
    const allow = methods.join(', ')
    const told = wrongMethod(request.method, path, methods)
    return sendProblem(reply, new SvcError('method_not_allowed', told, { allow }))
  }
  const said = `${unknown ?? `nothing is at ${path.slice(0, SAID_MAX)}`}${hintFor(path)}`
  return sendProblem(reply, new SvcError('not_found', said))
}

/** Whether a name in the path is empty, as in `/api/sources/`: the router takes that for one, and nothing has it. */
export const lacksName = ({ params }: FastifyRequest): boolean =>
  Object.entries(params ?? {}).some(([name, value]) => name !== '*' && value === '')

/** Where svc mcp listens, which many look for here. */
const OF_MCP = /^\/(mcp|sse|messages)\/?$/

const POST_LOGS = 'send lines as JSON to /ingest/<ingest_key>, or logs by OTLP to /v1/logs'

/** Where programs send that speak to another service, alone or behind an ingest URL: what svc takes of them instead. */
const ELSEWHERE: readonly (readonly [path: RegExp, what: string])[] = [
  [
    /^\/(loki\/)?api\/(v1|prom)\/push$/,
    `Loki's push API is taken behind an ingest URL: /ingest/<ingest_key>/loki/api/v1/push. Else ${POST_LOGS}`,
  ],
  [
    /^\/services\/collector(\/|$)/,
    `of Splunk's event collector event and raw are taken, behind an ingest URL, /ingest/<ingest_key>/services/collector/event, or with the key of a source as the token. Else ${POST_LOGS}`,
  ],
  [
    /^\/(api\/v2\/logs|v1\/input|api\/v\d\/series)(\/|$)/,
    `of Datadog's intake logs are taken, behind an ingest URL, /ingest/<ingest_key>/api/v2/logs, or with the key of a source as the API key. Else ${POST_LOGS}`,
  ],
  [/^\/log\/v1$/, `New Relic's log API is not taken: ${POST_LOGS}`],
  [
    /^(\/[^/]+)?\/_(bulk|doc|create|update|search|count|mget)(\/|$)/,
    `of Elasticsearch's API new documents alone are taken, behind an ingest URL: /ingest/<ingest_key>/_bulk. Else ${POST_LOGS}`,
  ],
  [
    /^\/(api\/v1\/(write|receive|import.*)|prometheus\/.*|write|api\/v2\/write)$/,
    'remote write and line protocol are not taken: the connector prometheus asks for metrics, and OTLP brings them to /v1/metrics',
  ],
  [
    /^\/api(\/[^/]+)?\/[^/]+\/(envelope|store)\/?$/,
    "what Sentry's SDKs send is not taken: Sentry's own webhook has the preset sentry, and OTLP brings errors to /v1/logs",
  ],
  [
    /^\/(api\/v\d\/spans|api\/traces|v0\.\d\/traces)$/,
    'traces of this form are not taken: send them by OTLP to /v1/traces',
  ],
  [
    /^\/opentelemetry\.proto\./,
    'OTLP/gRPC has a port of its own, 4317 unless SVC_OTLP_GRPC_PORT says otherwise',
  ],
  [
    /^\/upload$/,
    'systemd-journal-upload is not taken: the connector journald reads the folder of systemd-journal-remote',
  ],
]

/** Where what was looked for may be: the path that there is, which differs by what is often mistaken; else nothing. */
function hintFor(path: string): string {
  if (OF_MCP.test(path))
    return ': svc mcp serves it, a process of its own (port 8788 unless told otherwise); here is /telemetry/mcp'
  const sent = path.replace(/\/{2,}/g, '/').replace(/^\/ingest\/[^/]+(?=\/)/, '')
  const elsewhere = ELSEWHERE.find(([of]) => of.test(sent))
  if (elsewhere && path.length <= SAID_MAX) return `; ${elsewhere[1]}`
  const plain = path.replace(/\/{2,}/g, '/').replace(/(.)\/+$/, '$1')
  const bare = plain.replace(/^\/api(?=\/)/, '').replace(/^\/v\d+(?=\/)/, '')
  const found = [plain, `/api${bare}`, bare, plain.toLowerCase()].find(
    (other) => other !== path && other.length <= SAID_MAX && methodsOf(other).length > 0,
  )
  return found === undefined ? '' : `; did you mean ${found}?`
}

const wrongMethod = (method: string, path: string, methods: readonly string[]): string =>
  path.startsWith('/v1/')
    ? `${path} takes POST alone, an export of OTLP`
    : `this path takes ${methods.join(', ')}, not ${method}`

/** What is said of a path of the API that there is none of; null of any other. */
function sentenceOf(path: string): string | null {
  if (path === '/query' || path === '/derive' || /^\/api\/views(\/|$)/.test(path))
    return 'views were removed: a trigger takes sources and filters'
  if (path === '/api' || path.startsWith('/api/')) return `unknown API path ${path.slice(0, SAID_MAX)}`
  if (path === '/ingest' || path.startsWith('/ingest/'))
    return 'unknown ingest path; events are posted to /ingest/<ingest_key>'
  return null
}

const wantsPage = ({ method, headers }: FastifyRequest, path: string): boolean =>
  method === 'GET' &&
  (headers.accept ?? '').includes('text/html') &&
  !isApiPath(path) &&
  !/\.[a-z0-9]+$/i.test(path)
