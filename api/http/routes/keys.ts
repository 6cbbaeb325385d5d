/** API keys (SPEC.md, Keys; Authentication rules 1 to 3). */
import type { FastifyInstance } from 'fastify'
import type { KeyCreate, KeysResult } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { answers, body } from '../validate.ts'

export function keyRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  app.get(
    '/api/keys',
    {
      schema: {
        tags: ['access'],
        operationId: 'listKeys',
        summary: 'List keys',
        response: answers(200, 'keys-result.json'),
      },
    },
    async (): Promise<KeysResult> => {
      await auth.flushUsed()
      return { keys: await engine.listKeys(), enforced: auth.secured, scopes: ['admin', 'ingest', 'read'] }
    },
  )
  app.post<{ Body: KeyCreate }>(
    '/api/keys',
    {
      schema: {
        tags: ['access'],
        operationId: 'createKey',
        summary: 'Make a key; its secret is shown once',
        body: body('request-key-create.json'),
        response: answers(201, 'key-created.json'),
      },
    },
    async (request, reply) => {
      const created = await engine.createKey(request.body, request.identity)
      await auth.refresh()
      return reply.code(201).header('cache-control', 'no-store').send(created)
    },
  )
  app.delete<{ Params: { id: string } }>(
    '/api/keys/:id',
    {
      schema: {
        tags: ['access'],
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        response: answers(200, 'key-revoked.json'),
      },
    },
    async (request) => {
      const result = await engine.revokeKey(request.params.id, request.identity)
      await auth.refresh()
      return result
    },
  )
}
