/** Calls about stored credentials of GitHub. */
import type {
  CredentialDeleted,
  CredentialSaved,
  CredentialsResult,
  CredentialTested,
  CredentialUpdate,
  CredentialWrite,
} from '../schemas/types.ts'
import { call } from './client.ts'

const BASE = '/api/integrations/github'
const pathOf = (name: string) => `${BASE}/${encodeURIComponent(name)}`
const send = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await call(method, path, body)).json() as Promise<T>

export const credentials = {
  list: () => send<CredentialsResult>('GET', BASE),
  create: (body: CredentialWrite) => send<CredentialSaved>('POST', BASE, body),
  update: (name: string, body: CredentialUpdate) => send<CredentialSaved>('PUT', pathOf(name), body),
  remove: (name: string) => send<CredentialDeleted>('DELETE', pathOf(name)),
  test: (name: string) => send<CredentialTested>('POST', `${pathOf(name)}/test`),
}

/** Query key: sources and MCP servers say what uses a credential, so it is read again with them. */
export const CREDENTIALS = ['declared', 'credentials']
