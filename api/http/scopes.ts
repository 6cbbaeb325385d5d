/**
 * Every route with the scope it needs, in one place (SPEC.md, Authentication). A route is known by
 * its method and its pattern, never by a prefix of the address, so that no spelling of a path gets
 * past the check. The server does not start with a route that is not listed here.
 */
export type Scope =
  | 'public'
  | 'any'
  | 'read'
  | 'ingest'
  | 'admin'
  | 'findings'
  | 'person'
  | 'signed-or-ingest'

export const scopes: Readonly<Record<string, Scope>> = {
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
  'GET /api/connectors': 'read',
  'GET /api/mcp/tools': 'read',
  'GET /api/sources': 'read',
  'POST /api/sources': 'admin',
  'GET /api/sources/discover': 'read',
  'POST /api/sources/discover': 'admin',
  'POST /api/sources/test': 'admin',
  'GET /api/discover/environment': 'admin',
  'GET /api/sources/:name': 'read',
  'PUT /api/sources/:name': 'admin',
  'DELETE /api/sources/:name': 'admin',
  'POST /api/sources/:name/pause': 'admin',
  'POST /api/sources/:name/resume': 'admin',
  'GET /api/sources/:name/events': 'read',
  'GET /api/sources/:name/fields': 'read',
  'POST /api/labels/preview': 'read',
  'GET /api/triggers': 'read',
  'POST /api/triggers': 'admin',
  'GET /api/triggers/:name': 'read',
  'PUT /api/triggers/:name': 'admin',
  'DELETE /api/triggers/:name': 'admin',
  'POST /api/triggers/:name/pause': 'admin',
  'POST /api/triggers/:name/resume': 'admin',
  'POST /api/triggers/backtest': 'read',
  'GET /api/triggers/:name/evaluations': 'read',
  'GET /api/events/:id/why': 'read',
  'GET /api/firings': 'read',
  'GET /api/firings/:id': 'read',
  'GET /api/firings/:id/events': 'read',
  'GET /api/activity/dispatches': 'read',
  'GET /api/activity/dispatches/:id': 'read',
  'GET /api/deliveries': 'read',
  'GET /api/deliveries/:id': 'read',
  'GET /api/deliveries/:id/message': 'read',
  'POST /api/deliveries/:id/redeliver': 'admin',
  'POST /subscribe': 'read',
  'POST /unsubscribe': 'read',
  'GET /api/subscriptions': 'read',
  'POST /api/subscriptions/:sid/fetch': 'read',
  'POST /api/subscriptions/:sid/acknowledge': 'read',
  'POST /api/subscriptions/:sid/release': 'read',
  'POST /api/subscriptions/:sid/extend': 'read',
  'POST /api/projects/:id/subscribe': 'read',
  'GET /api/projects/:id/subscriptions': 'admin',
  'DELETE /api/projects/:id/subscribe/:sid': 'read',
  'GET /api/projects/:id/external-agents': 'read',
  'GET /api/agents/builtin': 'read',
  'POST /api/agents/builtin': 'admin',
  'GET /api/agents/builtin/:name': 'read',
  'PUT /api/agents/builtin/:name': 'admin',
  'DELETE /api/agents/builtin/:name': 'admin',
  'GET /api/agents/builtin/:name/runs': 'read',
  'POST /api/agents/builtin/:name/runs/:run/rerun': 'admin',
  'GET /api/agents/builtin/:name/preview': 'read',
  'GET /api/agents/builtin/:name/forecast': 'read',
  'GET /api/agents/builtin/:name/examples': 'read',
  'POST /api/agents/builtin/:name/examples': 'admin',
  'DELETE /api/agents/builtin/:name/examples/:id': 'admin',
  'GET /api/agents/builtin/:name/tests': 'read',
  'POST /api/agents/builtin/:name/tests': 'admin',
  'GET /api/agents/builtin/:name/tests/:id': 'read',
  'GET /api/runs': 'read',
  'GET /api/runs/:id': 'read',
  'POST /api/runs/:id/rerun': 'admin',
  'POST /api/runs/:id/cancel': 'admin',
  'GET /api/evals/reports': 'read',
  'GET /api/evals/reports/:id': 'read',
  'POST /api/evals/reports': 'admin',
  'DELETE /api/evals/reports/:id': 'admin',
  'POST /api/runs/:id/scenario': 'admin',
  'POST /api/runs/:id/scenario/file': 'admin',
  'POST /api/agents/builtin/:name/enable': 'admin',
  'POST /api/agents/builtin/:name/disable': 'admin',
  'GET /api/mcp-servers': 'read',
  'POST /api/mcp-servers': 'admin',
  'GET /api/mcp-servers/:name': 'read',
  'PUT /api/mcp-servers/:name': 'admin',
  'DELETE /api/mcp-servers/:name': 'admin',
  'POST /api/mcp-servers/test': 'admin',
  'POST /api/mcp-servers/:name/test': 'admin',
  'GET /api/mcp-servers/:name/tools': 'read',
  'POST /api/mcp-servers/:name/tools/:tool/approve': 'admin',
  'GET /api/resources': 'read',
  'GET /api/skills': 'read',
  'GET /api/projects/:id/skills': 'read',
  'POST /api/projects/:id/skills': 'admin',
  'POST /api/projects/:id/skills/upload': 'admin',
  'GET /api/projects/:id/skills/:name': 'read',
  'PUT /api/projects/:id/skills/:name': 'admin',
  'DELETE /api/projects/:id/skills/:name': 'admin',
  'GET /api/projects/:id/skills/:name/download': 'read',
  'POST /api/projects/:id/skills/:name/use': 'admin',
  ...ofProjects('/api/projects', 'templates'),
  // The old words, kept until two releases after 1.14 (SPEC.md, Versioning 2).
  ...ofProjects('/api/usecases', 'recipes'),
  'GET /api/projects/:id/wiring': 'read',
  'PUT /api/projects/:id/wiring': 'admin',
  'GET /api/projects/:id/deletion': 'read',
  'POST /api/projects/:id/hold': 'admin',
  'POST /api/projects/:id/takeover': 'person',
  'POST /api/projects/:id/release': 'admin',
  'GET /api/crew/projects': 'read',
  'GET /api/projects/:id/outline': 'read',
  'GET /api/projects/:id/graph': 'read',
  'PUT /api/projects/:id/graph/positions': 'admin',
  'POST /api/projects/:id/draft/preview': 'admin',
  'GET /api/projects/:id/health': 'read',
  'POST /api/setup/drafts': 'admin',
  'POST /api/setup/check': 'admin',
  'POST /api/setup/apply': 'admin',
  'GET /api/projects/:id/setup': 'read',
  'PUT /api/projects/:id/setup': 'admin',
  'POST /api/projects/:id/setup/plan': 'admin',
  'DELETE /api/projects/:id/setup/plan': 'admin',
  'POST /api/projects/:id/setup/test-event': 'admin',
  'POST /api/projects/:id/setup/practice': 'admin',
  'GET /api/projects/:id/replay': 'read',
  'GET /api/projects/:id/results': 'read',
  'GET /api/projects/:id/results/:run': 'read',
  'POST /api/projects/:id/results/:run/handled': 'admin',
  'POST /api/projects/:id/results/:run/mark': 'admin',
  'GET /api/projects/:id/findings': 'read',
  'POST /api/projects/:id/findings': 'findings',
  'GET /api/projects/:id/keys': 'admin',
  'POST /api/projects/:id/keys': 'admin',
  'GET /api/change-sets': 'read',
  'GET /api/change-sets/:id': 'read',
  'POST /api/change-sets': 'admin',
  'POST /api/change-sets/:id/undo': 'admin',
  'POST /api/change-sets/:id/rollback': 'admin',
  'GET /api/proposals': 'read',
  'POST /api/proposals': 'read',
  'GET /api/proposals/:id': 'read',
  'POST /api/proposals/:id/approve': 'admin',
  'POST /api/proposals/:id/decline': 'admin',
  'POST /api/proposals/:id/withdraw': 'read',
  'GET /api/catalog/export': 'read',
  'POST /api/catalog/export': 'read',
  'POST /api/catalog/check': 'read',
  'POST /api/catalog/import': 'admin',
  'GET /api/catalog/drift': 'read',
  'DELETE /api/catalog/files/:name': 'admin',
  'GET /api/catalog/schema': 'read',
  'GET /api/catalog/dependents': 'read',
  'GET /catalog': 'read',
  'GET /catalog/:handle': 'read',
  'POST /read': 'read',
  'POST /api/stats': 'read',
  'POST /api/histogram': 'read',
  'POST /api/inspect': 'read',
  'GET /api/entities': 'read',
  'GET /api/events/:id': 'read',
  'GET /api/tail': 'read',
  'GET /api/usage': 'read',
  'GET /api/usage/model': 'read',
  'GET /api/settings/providers': 'admin',
  'PUT /api/settings/providers/default': 'admin',
  'PUT /api/settings/providers/:id': 'admin',
  'DELETE /api/settings/providers/:id': 'admin',
  'POST /api/settings/providers/:id/models': 'admin',
  'POST /api/settings/providers/:id/test': 'admin',
  'GET /api/settings/providera-key': 'admin',
  'PUT /api/settings/providera-key': 'admin',
  'DELETE /api/settings/providera-key': 'admin',
  'GET /api/settings/gateway': 'admin',
  'PUT /api/settings/gateway': 'admin',
  'DELETE /api/settings/gateway': 'admin',
  'GET /api/settings/prices': 'admin',
  'PUT /api/settings/prices': 'admin',
  'GET /api/settings/agents': 'admin',
  'PUT /api/settings/agents': 'admin',
  'GET /api/settings/tracing': 'admin',
  'PUT /api/settings/tracing': 'admin',
  'POST /api/settings/tracing/test': 'admin',
  'GET /api/settings/slack-bot-token': 'admin',
  'PUT /api/settings/slack-bot-token': 'admin',
  'DELETE /api/settings/slack-bot-token': 'admin',
  'POST /api/settings/slack-bot-token/test': 'admin',
  'GET /api/settings/slack-signing-secret': 'admin',
  'PUT /api/settings/slack-signing-secret': 'admin',
  'DELETE /api/settings/slack-signing-secret': 'admin',
  'POST /api/slack/events': 'public',
  'GET /api/slack/channels': 'read',
  'POST /api/slack/channels/changed': 'admin',
  'GET /api/integrations/github': 'admin',
  'POST /api/integrations/github': 'admin',
  'PUT /api/integrations/github/:name': 'admin',
  'DELETE /api/integrations/github/:name': 'admin',
  'POST /api/integrations/github/:name/test': 'admin',
  'GET /api/integrations/github/:name/repos': 'admin',
  // Mode build needs admin, which the route looks at itself: the mode is in the body.
  'POST /api/agent/chat': 'read',
  'GET /api/agent/chat/:turn': 'read',
  'POST /api/agent/chat/:turn/cancel': 'read',
  'GET /api/ask/sessions': 'read',
  'GET /api/ask/sessions/:id': 'read',
  'PUT /api/ask/sessions/:id': 'read',
  'DELETE /api/ask/sessions/:id': 'read',
  'GET /api/keys': 'admin',
  'POST /api/keys': 'admin',
  'DELETE /api/keys/:id': 'admin',
  'POST /api/logins': 'person',
  'POST /api/logins/exchange': 'public',
  'DELETE /api/logins/:id': 'any',
  'GET /api/connect': 'admin',
  'POST /api/connect/clients': 'any',
  'GET /api/connect/skill': 'any',
  'POST /ingest/:key': 'signed-or-ingest',
  'GET /ingest/:key': 'signed-or-ingest',
  'POST /remember': 'ingest',
}

/** The routes of projects that have an old spelling too. */
function ofProjects(base: string, templates: string): Record<string, Scope> {
  return {
    [`GET ${base}/${templates}`]: 'read',
    [`GET ${base}/${templates}/:key`]: 'read',
    [`POST ${base}/${templates}/:key/detect`]: 'admin',
    [`GET ${base}`]: 'read',
    [`POST ${base}`]: 'admin',
    [`GET ${base}/:id`]: 'read',
    [`PUT ${base}/:id`]: 'admin',
    [`DELETE ${base}/:id`]: 'admin',
    [`POST ${base}/:id/pause`]: 'admin',
    [`POST ${base}/:id/resume`]: 'admin',
    [`POST ${base}/:id/repair`]: 'admin',
    [`POST ${base}/:id/actions/:name`]: 'admin',
    [`GET ${base}/:id/summary`]: 'read',
  }
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
  'POST /read',
  'POST /api/stats',
  'POST /api/inspect',
  'GET /catalog',
  'GET /catalog/:handle',
  ...['/api/projects', '/api/usecases'].flatMap((base) => [
    `GET ${base}`,
    `GET ${base}/:id`,
    `GET ${base}/:id/summary`,
  ]),
  'GET /api/projects/:id/skills',
  'GET /api/projects/:id/skills/:name',
  'GET /api/projects/:id/skills/:name/download',
  'GET /api/projects/:id/replay',
  'GET /api/projects/:id/results',
  'GET /api/projects/:id/results/:run',
  'GET /api/projects/:id/outline',
  'GET /api/projects/:id/graph',
  'GET /api/projects/:id/health',
  'GET /api/projects/:id/findings',
  'POST /api/projects/:id/findings',
  'POST /api/projects/:id/subscribe',
  'DELETE /api/projects/:id/subscribe/:sid',
  'GET /api/subscriptions',
  'POST /api/subscriptions/:sid/fetch',
  'POST /api/subscriptions/:sid/acknowledge',
  'POST /api/subscriptions/:sid/release',
  'POST /api/subscriptions/:sid/extend',
  'POST /unsubscribe',
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
  // HEAD follows GET: it shows the same headers.
  const listed = scopes[`${method === 'HEAD' ? 'GET' : method} ${pattern}`]
  if (listed) return listed
  return (method === 'GET' || method === 'HEAD') && isPublicPage(pattern) ? 'public' : undefined
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
