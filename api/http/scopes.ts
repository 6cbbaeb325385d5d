/**
 * Every route with the scope it needs (SPEC.md, Authentication): those of operations as they are declared, and
 * those that are made by hand. A route is known by its method and its pattern, never by a prefix of the address,
 * so that no spelling of a path gets past the check. The server does not start with a route that is not here.
 */
import { operations, routeOf } from '../../engine/index.ts'

export type Scope =
  | 'public'
  | 'any'
  | 'read'
  | 'ingest'
  | 'admin'
  | 'findings'
  | 'respond'
  | 'person'
  | 'signed-or-ingest'

/** Routes that are no operations. */
export const routesByHand: Readonly<Record<string, Scope>> = {
  'GET /health': 'public',
  'GET /metrics': 'read',
  'POST /v1/logs': 'ingest',
  'POST /v1/traces': 'ingest',
  'POST /v1/metrics': 'ingest',
  'GET /openapi.json': 'any',
  'GET /docs/json': 'any',
  'GET /docs/yaml': 'any',
  'POST /api/session': 'public',
  'DELETE /api/session': 'public',
  'GET /api/whoami': 'any',
  'GET /api/capabilities': 'read',
  'GET /api/mcp/tools': 'read',
  'GET /api/tail': 'read',
  'POST /api/slack/events': 'public',
  'POST /hooks/catalog': 'public',
  // Mode build needs admin, which the route looks at itself: the mode is in the body.
  'POST /api/agent/chat': 'read',
  'GET /api/agent/chat/:turn': 'read',
  'GET /.well-known/oauth-authorization-server': 'public',
  'GET /.well-known/oauth-protected-resource/telemetry/mcp': 'public',
  'GET /.well-known/oauth-protected-resource/mcp': 'public',
  'GET /.well-known/oauth-protected-resource/sse': 'public',
  'POST /oauth/register': 'public',
  'POST /oauth/token': 'public',
  'POST /oauth/revoke': 'public',
  'POST /api/oauth/requests': 'person',
  'POST /api/oauth/decisions': 'person',
  // Who may ask is looked at there, for its refusals are its own.
  'GET /telemetry/mcp': 'public',
  'POST /telemetry/mcp': 'public',
  'DELETE /telemetry/mcp': 'public',
  // A client that a person let make keys, which the route looks at itself: it is in the consent.
  'POST /api/telemetry/keys': 'any',
  'POST /api/logins': 'person',
  'POST /api/logins/exchange': 'public',
  'GET /api/connect': 'admin',
  'POST /api/connect/clients': 'any',
  'GET /api/connect/skill': 'any',
  'POST /ingest/:key': 'signed-or-ingest',
  'GET /ingest/:key': 'signed-or-ingest',
  'POST /remember': 'ingest',
}

/**
 * Whether a call is made by hand and done again with each repeat, so that an Idempotency-Key would be passed over. Events
 * have an answer that is kept; senders of other protocols (OTLP, Slack, git hosts, MCP) go by their own rules for repeats.
 */
export const isKeyless = (method: string, pattern: string | undefined): boolean =>
  method === 'POST' &&
  /^\/(api|oauth)\//.test(pattern ?? '') &&
  pattern !== '/api/slack/events' &&
  `POST ${pattern}` in routesByHand

/** A path as the router has it: `{name}` is `:name`. */
export const patternOf = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

/** An operation's route as it is known here. */
const nameOf = (of: (typeof operations)[number]): string => {
  const { method, path } = routeOf(of)
  return `${method} ${patternOf(path)}`
}

export const scopes: Readonly<Record<string, Scope>> = {
  ...routesByHand,
  ...Object.fromEntries(operations.map((one) => [nameOf(one), one.scope])),
}

/**
 * The routes a project key may use, all on its own project (SPEC.md, Authentication 4); any other
 * call answers 403, whatever scopes it has.
 */
export const projectKeyRoutes: ReadonlySet<string> = new Set([
  'GET /api/whoami',
  'GET /openapi.json',
  'POST /api/connect/clients',
  'GET /api/connect/skill',
  ...operations.filter(({ projectKey }) => projectKey).map(nameOf),
])

/** Addresses that serve the console and the browsable API page: nothing of the instance is in them. */
export const isPublicPage = (pattern: string): boolean =>
  pattern === '/*' ||
  pattern === '/' ||
  pattern.startsWith('/assets/') ||
  pattern === '/docs' ||
  pattern.startsWith('/docs/') ||
  /^\/[\w.-]+\.(html|svg|ico|png|js|css|webmanifest|txt)$/.test(pattern)

/** @returns the scope of a route, or undefined when it is not listed. */
export function scopeOf(method: string, pattern: string): Scope | undefined {
  const listed = scopes[`${method} ${pattern}`]
  if (listed) return listed
  return method === 'GET' && isPublicPage(pattern) ? 'public' : undefined
}

/** @returns the methods that a path takes, as the header Allow lists them; none where there is no such path. */
export function methodsOf(path: string): string[] {
  const asked = path.split('/')
  const fits = (pattern: string): boolean => {
    const steps = pattern.split('/')
    return steps.length === asked.length && steps.every((step, i) => isStep(step, asked[i]!))
  }
  const methods = Object.keys(scopes)
    .map((route) => route.split(' ') as [method: string, pattern: string])
    .filter(([, pattern]) => fits(pattern))
    .map(([method]) => method)
  return [...new Set(methods)].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

const isStep = (step: string, asked: string): boolean =>
  step.startsWith(':') ? asked !== '' : step === asked
