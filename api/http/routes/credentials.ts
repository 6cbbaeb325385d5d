/** Stored credentials of GitHub (SPEC.md, Credential (GitHub)); tokens go in and never out. */
import type { FastifyInstance } from 'fastify'
import type { CredentialUpdate, CredentialWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields } from '../validate.ts'
import { describe } from './route.ts'

type Named = { Params: { name: string } }
const TAG = 'integrations'
const BASE = '/api/integrations/github'
const QUERY = {
  querystring: fields({
    query: { type: 'string', maxLength: 140, default: '', description: 'Part of owner/name.' },
  }),
}

export function credentialRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get(
    BASE,
    describe(
      TAG,
      'listCredentials',
      'Stored credentials, with what uses them',
      200,
      'credentials-result.json',
    ),
    async () => engine.listCredentials(),
  )
  app.post<{ Body: CredentialWrite }>(
    BASE,
    describe(TAG, 'createCredential', 'Store a token by name', 201, 'credential-saved.json', {
      body: body('request-credential-write.json'),
    }),
    async (request, reply) => reply.code(201).send(await engine.createCredential(request.body)),
  )
  app.put<Named & { Body: CredentialUpdate }>(
    `${BASE}/:name`,
    describe(
      TAG,
      'updateCredential',
      'Rotate the token; sources use it from their next poll on',
      200,
      'credential-saved.json',
      { body: body('request-credential-update.json') },
    ),
    async ({ params, body: update }) => engine.updateCredential(params.name, update),
  )
  app.delete<Named>(
    `${BASE}/:name`,
    describe(
      TAG,
      'deleteCredential',
      'Forget it; what names it stays, and says that it is gone',
      200,
      'credential-deleted.json',
    ),
    async ({ params }) => engine.deleteCredential(params.name),
  )
  app.post<Named>(
    `${BASE}/:name/test`,
    describe(TAG, 'testCredential', 'Ask GitHub whose token it is', 200, 'credential-tested.json'),
    async ({ params }) => engine.testCredential(params.name),
  )
  app.get<Named & { Querystring: { query: string } }>(
    `${BASE}/:name/repos`,
    describe(
      TAG,
      'listCredentialRepositories',
      'Repositories the token may read, those pushed to last first',
      200,
      'repositories-result.json',
      QUERY,
    ),
    async ({ params, query }) => engine.credentialRepositories(params.name, query.query),
  )
}
