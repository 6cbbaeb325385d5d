/**
 * A project key reads one project and records findings in it, nothing else (SPEC.md, Authentication
 * 4). What it may call is a list; every other call answers 403, whether or not the address exists.
 */
import type { FastifyRequest } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import { type Identity, requireScope } from './auth.ts'
import { projectKeyRoutes, scopeOf } from './scopes.ts'

/** @param pattern of the route; null where there is none. @throws SvcError forbidden */
export function checkProjectKey(
  request: Pick<FastifyRequest, 'method' | 'params'>,
  identity: Identity,
  pattern: string | null,
): void {
  const { method } = request
  if (pattern === null || !projectKeyRoutes.has(`${method} ${pattern}`)) refuse(identity)
  const { id } = request.params as { id?: string }
  if (id !== undefined && id !== identity.project && id !== identity.projectName) refuse(identity)
  const scope = scopeOf(method, pattern!)
  requireScope(identity, scope === 'findings' ? 'findings' : scope === 'any' ? 'any' : 'read')
}

function refuse({ projectName }: Identity): never {
  throw new SvcError('forbidden', `this key only reads project ${projectName} and records findings in it`)
}
