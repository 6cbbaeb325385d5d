/**
 * Who may call what, written by hand from SPEC.md, and from nothing in api/: the expectation of the matrix in
 * access.test.ts. SPEC.md, Endpoints: "Reads need scope read; every write needs admin, except ingest (ingest),
 * recording a finding (findings) and subscribing"; what differs from that sentence is a line here, with the
 * place that says so. Whoever changes a scope changes the line after looking there.
 */
export type Needed = 'public' | 'any' | 'read' | 'ingest' | 'admin' | 'findings' | 'respond' | 'person'

const EXCEPTIONS: Readonly<Record<string, Needed>> = {
  // Endpoints, GET /health: what a console or a balancer asks before anybody has logged in.
  'GET /health': 'public',
  // Authentication 1 and modes: a login is how a credential is shown, so none is asked for.
  'POST /api/session': 'public',
  'DELETE /api/session': 'public',
  // Telemetry query server authentication: how clients sign in is found, and a code or a token is the credential.
  'GET /.well-known/oauth-authorization-server': 'public',
  'GET /.well-known/oauth-protected-resource/telemetry/mcp': 'public',
  'GET /.well-known/oauth-protected-resource/mcp': 'public',
  'GET /.well-known/oauth-protected-resource/sse': 'public',
  'POST /oauth/register': 'public',
  'POST /oauth/token': 'public',
  'POST /oauth/revoke': 'public',
  // The same: 401 and 403 are said there in words of its own, which test/api/telemetry has.
  'GET /telemetry/mcp': 'public',
  'POST /telemetry/mcp': 'public',
  'DELETE /telemetry/mcp': 'public',
  // The same: create_api_key is for a session of a person with admin access, which the route looks at itself.
  'POST /api/telemetry/keys': 'any',
  // Authentication 10: a code that is used once is the credential.
  'POST /api/logins/exchange': 'public',
  // Authentication 11, Slack: the signing secret stands behind inbound events.
  'POST /api/slack/events': 'public',
  // Issue 20, reconcile: "a signed push webhook"; the secret it is signed with stands behind it.
  'POST /hooks/catalog': 'public',
  // Nothing of the instance is in them; every credential may see what it is and how the API looks.
  'GET /openapi.json': 'any',
  'GET /docs/json': 'any',
  'GET /docs/yaml': 'any',
  'GET /api/whoami': 'any',
  'GET /api/connect/skill': 'any',
  'POST /api/connect/clients': 'any',
  // Authentication 10: svc logout removes the machine's own key.
  'DELETE /api/logins/:id': 'any',
  // Scopes, ingest: POST /ingest/*, /v1/*, write memories. Authentication 7 has signed sources, tested below.
  'POST /ingest/:key': 'ingest',
  'GET /ingest/:key': 'ingest',
  'POST /v1/logs': 'ingest',
  'POST /v1/traces': 'ingest',
  'POST /v1/metrics': 'ingest',
  'POST /remember': 'ingest',
  // Scopes, findings.
  'POST /api/projects/:id/findings': 'findings',
  // Issue 19, step 2: who acts on incidents needs no more than that.
  'POST /api/incidents/bulk': 'respond',
  'POST /api/incidents/:incident/acknowledge': 'respond',
  'POST /api/incidents/:incident/assign': 'respond',
  'POST /api/incidents/:incident/snooze': 'respond',
  'POST /api/incidents/:incident/unsnooze': 'respond',
  'POST /api/incidents/:incident/handle': 'respond',
  'POST /api/incidents/:incident/reopen': 'respond',
  'POST /api/incidents/:incident/severity': 'respond',
  'POST /api/incidents/:incident/notes': 'respond',
  // Whoever acts on incidents plans the work that would open them.
  'POST /api/maintenance': 'respond',
  'POST /api/maintenance/:window/until': 'respond',
  'POST /api/maintenance/:window/end': 'respond',
  // Projects, takeover: "person only". Authentication 10: a person approves a login.
  'POST /api/projects/:id/takeover': 'person',
  'POST /api/logins': 'person',
  // Telemetry query server authentication: an OAuth session is of the user's account.
  'POST /api/oauth/requests': 'person',
  'POST /api/oauth/decisions': 'person',
  // Scopes, read: reads and timelines whose question is a body; nothing is changed by them.
  'POST /read': 'read',
  'POST /api/entities/coverage': 'read',
  'POST /api/stats': 'read',
  'POST /api/inspect': 'read',
  'POST /api/histogram': 'read',
  'POST /api/labels/preview': 'read',
  'POST /api/triggers/backtest': 'read',
  'POST /api/change-sets/backtest': 'read',
  // Scopes, read: an agent's own subscriptions, and Endpoints: subscribing is no admin's write.
  'POST /subscribe': 'read',
  'POST /unsubscribe': 'read',
  'POST /api/projects/:id/subscribe': 'read',
  'DELETE /api/projects/:id/subscribe/:sid': 'read',
  'POST /api/subscriptions/:sid/fetch': 'read',
  'POST /api/subscriptions/:sid/acknowledge': 'read',
  'POST /api/subscriptions/:sid/release': 'read',
  'POST /api/subscriptions/:sid/extend': 'read',
  // What the service does 7: Ask answers through the read API; its conversations are the caller's own.
  'POST /api/agent/chat': 'read',
  'POST /api/agent/chat/:turn/cancel': 'read',
  'PUT /api/ask/sessions/:id': 'read',
  'DELETE /api/ask/sessions/:id': 'read',
  // Reads of the catalog: a file compared, and what there is as a file, without secrets.
  'POST /api/catalog/check': 'read',
  'POST /api/catalog/export': 'read',
  // A proposal changes nothing before a person with scope admin approves it; one takes back one's own.
  'POST /api/proposals': 'read',
  'POST /api/proposals/:id/withdraw': 'read',
  // Scopes, admin: integrations, settings, keys, a project's subscriptions; reading them is the operator's too.
  'GET /api/keys': 'admin',
  'GET /api/oauth/sessions': 'admin',
  'GET /api/projects/:id/keys': 'admin',
  'GET /api/projects/:id/subscriptions': 'admin',
  'GET /api/connect': 'admin',
  'GET /api/discover/environment': 'admin',
  'GET /api/integrations/github': 'admin',
  'GET /api/integrations/github/:name/repos': 'admin',
  'GET /api/integrations/github/:name/tree': 'admin',
  'GET /api/settings/providers': 'admin',
  'GET /api/settings/providera-key': 'admin',
  'GET /api/settings/gateway': 'admin',
  'GET /api/settings/prices': 'admin',
  'GET /api/settings/agents': 'admin',
  'GET /api/settings/tracing': 'admin',
  'GET /api/settings/slack-bot-token': 'admin',
  'GET /api/settings/slack-people': 'admin',
  'GET /api/settings/slack-signing-secret': 'admin',
  'GET /api/settings/slack-team': 'admin',
  'GET /api/slack/manifest': 'admin',
}

/** @param route method and pattern, such as `GET /api/keys`. @returns what it needs by SPEC.md */
export function neededBySpec(route: string): Needed {
  return EXCEPTIONS[route] ?? (route.startsWith('GET ') ? 'read' : 'admin')
}

/** Every line names a route that is served; a line of one that is gone is out of date. */
export const exceptionRoutes: readonly string[] = Object.keys(EXCEPTIONS)

/** Authentication 4: a project key "reads that project and records findings in it, nothing else". */
export const ofProjectKeys: ReadonlySet<string> = new Set([
  'GET /api/whoami',
  'GET /openapi.json',
  'GET /api/connect/skill',
  'POST /api/connect/clients',
  'POST /read',
  'POST /api/stats',
  'POST /api/inspect',
  'GET /api/traces',
  'GET /api/telemetry/spans',
  'GET /api/telemetry/metrics',
  'GET /api/telemetry/agents',
  'GET /catalog',
  'GET /catalog/:handle',
  'GET /api/projects',
  'GET /api/projects/:id',
  'GET /api/projects/:id/summary',
  'GET /api/usecases',
  'GET /api/usecases/:id',
  'GET /api/usecases/:id/summary',
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
  'GET /api/findings',
  'GET /api/findings/:run',
  'POST /api/projects/:id/findings',
  // Authentication 5: revoking a project key removes the subscriptions it made, so it makes some.
  'POST /api/projects/:id/subscribe',
  'DELETE /api/projects/:id/subscribe/:sid',
  'GET /api/subscriptions',
  'POST /api/subscriptions/:sid/fetch',
  'POST /api/subscriptions/:sid/acknowledge',
  'POST /api/subscriptions/:sid/release',
  'POST /api/subscriptions/:sid/extend',
  'POST /unsubscribe',
  // Issue 19, step 2: its own project's incidents; it never acts on them.
  'GET /api/incidents',
  'GET /api/incidents/:incident',
])
