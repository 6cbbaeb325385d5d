/** Calls about stored credentials of GitHub. */
import * as calls from '../api/client/calls.ts'
import type { CredentialUpdate, CredentialWrite } from '../schemas/types.ts'
import { ask } from './client.ts'

export const credentials = {
  list: () => ask(calls.listCredentials),
  create: (body: CredentialWrite) => ask(calls.createCredential, { body }),
  update: (name: string, body: CredentialUpdate) => ask(calls.updateCredential, { name, body }),
  remove: (name: string) => ask(calls.deleteCredential, { name }),
  repositories: (name: string, query: string) => ask(calls.listCredentialRepositories, { name, query }),
  test: (name: string) => ask(calls.testCredential, { name }),
}

/** Query key: sources and MCP servers say what uses a credential, so it is read again with them. */
export const CREDENTIALS = ['declared', 'credentials']
