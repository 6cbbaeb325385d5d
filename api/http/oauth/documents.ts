/**
 * OAuth clients with a Client ID Metadata Document (MCP, Authorization;
 * draft-ietf-oauth-client-id-metadata-document): the client id is an https URL, at which a JSON document describes the client.
 * svc fetches it only when a signed-in person is asked for consent.
 */
import type { Clock, Engine, OauthClient } from '../../../engine/index.ts'
import type { OauthRequest } from '../../../schemas/types.ts'
import { RegistrationFault, readRegistration } from './registration.ts'

const ID_MAX = 500
const KEPT_MAX = 100
/** How long a document is used again, milliseconds: what its server says, within these. */
const LEAST_MS = 60_000
const MOST_MS = 3_600_000

/** Whether an id of a client is an address of its document. */
const isDocumentId = (id: string): boolean => /^https:/i.test(id)

/** Clients by their ids, whether they registered or have a document. */
export class OauthClients {
  private readonly kept = new Map<string, { client: OauthClient; until: number }>()

  constructor(
    private readonly engine: Pick<Engine, 'fetchClientDocument' | 'findOauthClient' | 'keepOauthClient'>,
    private readonly clock: Clock,
  ) {}

  /** @returns null where no client is registered under the id; a string says why its document cannot be used (no full stop) */
  find(id: string): Promise<OauthClient | string | null> {
    return isDocumentId(id) ? this.read(id) : this.engine.findOauthClient(id)
  }

  /** Stores a client that has a document when a person consents to it: tokens belong to a stored client. */
  async consented(client: OauthClient): Promise<void> {
    if (isDocumentId(client.id)) await this.engine.keepOauthClient(client)
  }

  /** As a person is shown it. */
  shown({ id, name }: OauthClient): NonNullable<OauthRequest['client']> {
    return { id, name, host: isDocumentId(id) ? new URL(id).host : null }
  }

  /** Fetches and checks a client's document. @param id its URL. @returns the client, or the reason there is none (no full stop) */
  private async read(id: string): Promise<OauthClient | string> {
    const fault = faultOfId(id)
    if (fault) return `client_id ${fault}`
    const known = this.kept.get(id)
    if (known && known.until > this.clock.now()) return known.client
    this.kept.delete(id)
    const answer = await this.engine.fetchClientDocument(id)
    if ('fault' in answer) return `the document at client_id ${answer.fault}`
    const client = clientIn(answer.text, id)
    if (typeof client === 'string') return `the document at client_id cannot be used: ${client}`
    if (this.kept.size >= KEPT_MAX) this.kept.delete(this.kept.keys().next().value!)
    const forMs = Math.min(MOST_MS, Math.max(LEAST_MS, answer.maxAgeMs ?? 0))
    this.kept.set(id, { client, until: this.clock.now() + forMs })
    return client
  }
}

/** Section 2 of the draft: what an address may be. */
function faultOfId(id: string): string | null {
  if (id.length > ID_MAX) return `has more than ${ID_MAX} characters`
  if (!URL.canParse(id)) return 'is no address'
  const url = new URL(id)
  if (url.protocol !== 'https:') return 'must be https'
  if (url.pathname === '/') return 'must have a path'
  if (url.username !== '' || url.password !== '' || id.includes('#'))
    return 'must have no user, password or fragment'
  // Dot segments, a default port or capitals in the host: then the text is not the address that is asked.
  if (url.href !== id) return `must be written as it is asked: ${url.href.slice(0, ID_MAX)}`
  return null
}

/** @returns what a document says of its client, or what is wrong with it */
function clientIn(text: string, id: string): OauthClient | string {
  try {
    const { name, redirectUris } = readRegistration(text)
    const given = JSON.parse(text) as Record<string, unknown>
    if (given.client_id !== id) return 'its client_id is not the address it was fetched from'
    if (given.client_secret !== undefined) return 'client_secret must not be in it'
    const method = given.token_endpoint_auth_method ?? 'none'
    if (method !== 'none') return 'token_endpoint_auth_method must be none: clients are public here'
    return { id, name, redirectUris }
  } catch (error) {
    if (error instanceof RegistrationFault) return error.message
    throw error
  }
}
