/** Stored credentials of GitHub (SPEC.md, Credential (GitHub)); tokens go in and never out. */
import { tagged } from './operation.ts'

const operation = tagged('integrations')

export const credentials = [
  operation({
    id: 'listCredentials',
    route: 'GET /api/integrations/github',
    scope: 'admin',
    role: 'reader',
    answer: 'credentials-result.json',
    summary: 'Stored credentials, with what uses them',
    run: (engine) => engine.listCredentials(),
  }),
  operation({
    id: 'createCredential',
    route: 'POST /api/integrations/github',
    scope: 'admin',
    role: 'network',
    body: 'request-credential-write.json',
    answer: 'credential-saved.json',
    status: 201,
    summary: 'Store a token by name',
    run: (engine, { body }) => engine.createCredential(body),
  }),
  operation({
    id: 'updateCredential',
    route: 'PUT /api/integrations/github/{name}',
    scope: 'admin',
    role: 'network',
    body: 'request-credential-update.json',
    answer: 'credential-saved.json',
    summary: 'Rotate the token; sources use it from their next poll on',
    run: (engine, { params, body }) => engine.updateCredential(params.name, body),
  }),
  operation({
    id: 'deleteCredential',
    route: 'DELETE /api/integrations/github/{name}',
    scope: 'admin',
    role: 'writer',
    answer: 'credential-deleted.json',
    summary: 'Forget it; what names it stays, and says that it is gone',
    run: (engine, { params }) => engine.deleteCredential(params.name),
  }),
  operation({
    id: 'testCredential',
    route: 'POST /api/integrations/github/{name}/test',
    scope: 'admin',
    role: 'network',
    answer: 'credential-tested.json',
    summary: 'Ask GitHub whose token it is',
    run: (engine, { params }) => engine.testCredential(params.name),
  }),
  operation({
    id: 'listCredentialRepositories',
    route: 'GET /api/integrations/github/{name}/repos',
    scope: 'admin',
    role: 'network',
    query: { query: { type: 'string', maxLength: 140, default: '', description: 'Part of owner/name.' } },
    answer: 'repositories-result.json',
    summary: 'Repositories the token may read, those pushed to last first',
    run: (engine, { params, query }) => engine.credentialRepositories(params.name, query.query),
  }),
]
