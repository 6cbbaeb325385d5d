/**
 * A project key reads one project and records findings in it, nothing else (SPEC.md, Authentication
 * 4). What it may call is a list; every other call answers 403, whether or not the address exists.
 */
import type { FastifyRequest } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import { type Identity, requireScope } from './auth.ts'
import { projectKeyRoutes, scopeOf } from './scopes.ts'

/** @param pattern of the route; null where there is none. @throws SvcError forbidden */
export function checkProjectKey(request: FastifyRequest, identity: Identity, pattern: string | null): void {
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (pattern === null || !projectKeyRoutes.has(`${method} ${pattern}`)) refuse(identity)
  const { id } = request.params as { id?: string }
  if (id !== undefined && id !== identity.project && id !== identity.projectName) refuse(identity)
  const scope = scopeOf(method, pattern!)
  requireScope(identity, scope === 'findings' ? 'findings' : scope === 'any' ? 'any' : 'read')
}

/**
 * What a project key may read: its own project, which a body need not name.
 * @param members names of the project's sources. @throws SvcError forbidden
 */
export function narrowToProject<T extends { project?: string | undefined; sources?: string[] | undefined }>(
  identity: Identity,
  body: T,
  members: readonly string[],
): T {
  if (identity.project === null) return body
  if (
    body.project !== undefined &&
    body.project !== identity.project &&
    body.project !== identity.projectName
  )
    refuse(identity)
  // Not 404: a key must not learn which sources there are.
  if (body.sources?.some((source) => !members.includes(source))) refuse(identity)
  return { ...body, project: identity.project }
}

function refuse({ projectName }: Identity): never {
  throw new SvcError('forbidden', `this key only reads project ${projectName} and records findings in it`)
}
