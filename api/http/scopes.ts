/**
 * Every route with the scope it needs, in one place (SPEC.md, Authentication). A route is known by
 * its method and its pattern, never by a prefix of the address, so that no spelling of a path gets
 * past the check. The server does not start with a route that is not listed here.
 */
export type Scope = 'public' | 'any' | 'read' | 'ingest' | 'admin' | 'signed-or-ingest'

export const scopes: Readonly<Record<string, Scope>> = {
  'GET /health': 'public',
  'GET /metrics': 'read',
  'GET /openapi.json': 'any',
  'GET /docs/json': 'any',
  'GET /docs/yaml': 'any',
  'POST /api/session': 'public',
  'DELETE /api/session': 'public',
  'GET /api/whoami': 'any',
  'GET /api/capabilities': 'read',
  'GET /api/connectors': 'read',
  'GET /api/sources': 'read',
  'POST /api/sources': 'admin',
  'GET /api/sources/discover': 'read',
  'POST /api/sources/discover': 'admin',
  'POST /api/sources/test': 'admin',
  'GET /api/sources/:name': 'read',
  'PUT /api/sources/:name': 'admin',
  'DELETE /api/sources/:name': 'admin',
  'POST /api/sources/:name/pause': 'admin',
  'POST /api/sources/:name/resume': 'admin',
  'GET /api/sources/:name/events': 'read',
  'GET /api/sources/:name/fields': 'read',
  'POST /api/labels/preview': 'read',
  'GET /api/catalog/dependents': 'read',
  'POST /read': 'read',
  'POST /api/stats': 'read',
  'POST /api/histogram': 'read',
  'GET /api/entities': 'read',
  'GET /api/events/:id': 'read',
  'GET /api/tail': 'read',
  'GET /api/usage': 'read',
  'GET /api/keys': 'admin',
  'POST /api/keys': 'admin',
  'DELETE /api/keys/:id': 'admin',
  'POST /ingest/:key': 'signed-or-ingest',
  'GET /ingest/:key': 'ingest',
  'POST /remember': 'ingest',
}

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
