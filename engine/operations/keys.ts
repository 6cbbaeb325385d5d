/** API keys (SPEC.md, Keys; Authentication rules 1 to 3), and the logins they come of. */
import { fail } from '../errors.ts'
import { isAdmin, PAGED, pageOf } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('access')

export const keys = [
  operation({
    id: 'listKeys',
    route: 'GET /api/keys',
    scope: 'admin',
    role: 'reader',
    query: PAGED,
    answer: 'keys-result.json',
    access: 'shows',
    summary: 'List keys, newest first, revoked ones too',
    run: async (engine, { secured, query }) => {
      const { rows, next_before } = pageOf(await engine.listKeys(), query)
      return { keys: rows, next_before, enforced: secured, scopes: ['admin', 'ingest', 'read', 'respond'] }
    },
  }),
  operation({
    id: 'createKey',
    route: 'POST /api/keys',
    scope: 'admin',
    role: 'writer',
    body: 'request-key-create.json',
    answer: 'key-created.json',
    status: 201,
    secret: true,
    access: 'changes',
    summary: 'Make a key; its secret is shown once',
    run: (engine, { body, caller }) => engine.createKey(body, caller),
  }),
  operation({
    id: 'revokeKey',
    route: 'DELETE /api/keys/{id}',
    scope: 'admin',
    role: 'writer',
    answer: 'key-revoked.json',
    access: 'changes',
    summary: 'Revoke a key',
    run: (engine, { params, caller }) => engine.revokeKey(params.id, caller),
  }),
]

/** Approving and exchanging a login are the door's own: grants are in its memory alone. */
export const logins = [
  operation({
    id: 'endLogin',
    route: 'DELETE /api/logins/{id}',
    scope: 'any',
    role: 'writer',
    answer: 'key-revoked.json',
    access: 'changes',
    summary: 'Revoke the key of a login; a key may end itself',
    run: async (engine, { params, caller }) => {
      // As for a key that is not there: who may not revoke it learns nothing of it.
      if (caller.id !== `key:${params.id}` && !isAdmin({ caller }))
        fail('not_found', `no active key has the id ${params.id}`)
      return engine.revokeKey(params.id, caller)
    },
  }),
]

/** Clients that people signed in by OAuth; signing in is the door's own. */
export const oauthSessions = [
  operation({
    id: 'listOauthSessions',
    route: 'GET /api/oauth/sessions',
    scope: 'admin',
    role: 'reader',
    answer: 'oauth-sessions-result.json',
    access: 'shows',
    summary: 'Clients that people signed in',
    run: async (engine) => ({ sessions: await engine.listOauthSessions() }),
  }),
  operation({
    id: 'revokeOauthSession',
    route: 'DELETE /api/oauth/sessions/{id}',
    scope: 'admin',
    role: 'writer',
    answer: 'oauth-revoked.json',
    access: 'changes',
    summary: 'Sign a client out; its tokens end at once',
    run: (engine, { params }) => engine.revokeOauthSession(params.id),
  }),
]

/* Stored credentials of GitHub (SPEC.md, Credential (GitHub)); what is secret goes in and never out. */

const credentialOperation = tagged('integrations')

export const credentials = [
  credentialOperation({
    id: 'listCredentials',
    route: 'GET /api/integrations/github',
    scope: 'admin',
    role: 'reader',
    answer: 'credentials-result.json',
    summary: 'Stored credentials, with what uses them',
    run: (engine) => engine.listCredentials(),
  }),
  credentialOperation({
    id: 'createCredential',
    route: 'POST /api/integrations/github',
    scope: 'admin',
    role: 'network',
    body: 'request-credential-write.json',
    answer: 'credential-saved.json',
    status: 201,
    summary: 'Store a token, or an app, by name',
    run: (engine, { body }) => engine.createCredential(body),
  }),
  credentialOperation({
    id: 'updateCredential',
    route: 'PUT /api/integrations/github/{name}',
    scope: 'admin',
    role: 'network',
    body: 'request-credential-update.json',
    answer: 'credential-saved.json',
    summary: 'Rotate the token or the private key; sources use it from their next poll on',
    run: (engine, { params, body }) => engine.updateCredential(params.name, body),
  }),
  credentialOperation({
    id: 'deleteCredential',
    route: 'DELETE /api/integrations/github/{name}',
    scope: 'admin',
    role: 'writer',
    answer: 'credential-deleted.json',
    summary: 'Forget it; what names it stays, and says that it is gone',
    run: (engine, { params }) => engine.deleteCredential(params.name),
  }),
  credentialOperation({
    id: 'testCredential',
    route: 'POST /api/integrations/github/{name}/test',
    scope: 'admin',
    role: 'network',
    answer: 'credential-tested.json',
    summary: 'Ask GitHub whose it is',
    run: (engine, { params }) => engine.testCredential(params.name),
  }),
  credentialOperation({
    id: 'listCredentialRepositories',
    route: 'GET /api/integrations/github/{name}/repos',
    scope: 'admin',
    role: 'network',
    query: { query: { type: 'string', maxLength: 140, default: '', description: 'Part of owner/name.' } },
    answer: 'repositories-result.json',
    summary: 'Repositories it may read',
    run: (engine, { params, query }) => engine.credentialRepositories(params.name, query.query),
  }),
  credentialOperation({
    id: 'readCredentialTree',
    route: 'GET /api/integrations/github/{name}/tree',
    scope: 'admin',
    role: 'network',
    query: {
      repo: { type: 'string', minLength: 3, maxLength: 300, required: true, description: 'owner/name.' },
      ref: { type: 'string', maxLength: 255, default: '', description: 'Branch, tag or commit.' },
      path: { type: 'string', maxLength: 1_000, default: '', description: 'Folder; the root when empty.' },
    },
    answer: 'github-tree.json',
    summary: 'What lies in a folder of a repository',
    run: (engine, { params, query }) => engine.credentialTree(params.name, query),
  }),
  credentialOperation({
    id: 'addCredentialServer',
    route: 'POST /api/integrations/github/{name}/mcp',
    scope: 'admin',
    role: 'writer',
    optionalBody: 'request-credential-server.json',
    answer: 'credential-server.json',
    status: 201,
    recorded: true,
    summary: 'Register the MCP server that GitHub hosts, called with it',
    run: (engine, { params, body, by }) => engine.addCredentialServer(params.name, body ?? {}, by),
  }),
]
