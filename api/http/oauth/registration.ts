/** Clients that register by themselves (RFC 7591): what they may say of themselves, and how many may do so. */
import { SvcError } from '../../../engine/index.ts'
import { isLoopback } from './resources.ts'

const URIS_MAX = 10
const URI_MAX = 1_000
const NAME_MAX = 80
/** What decoders put in place of bytes that are no UTF-8. */
const REPLACED = '\ufffd'
const MINUTE_MS = 60_000
const OF_ONE_ADDRESS = 10
const OF_ALL = 60
const ADDRESSES_MAX = 10_000

/** A refusal as RFC 7591, section 3.2.2, has it. */
export class RegistrationFault extends Error {
  constructor(
    readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata',
    message: string,
  ) {
    super(message)
    this.name = 'RegistrationFault'
  }
}

/** @param text of the body, U+FFFD in place of what is no UTF-8. @throws RegistrationFault */
export function readRegistration(text: string): { name: string; redirectUris: string[] } {
  const given = parsed(text)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new RegistrationFault('invalid_client_metadata', 'the body must be a JSON object')
  const {
    redirect_uris: uris,
    client_name: name,
    grant_types: grants,
    response_types: responses,
  } = given as Record<string, unknown>
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > URIS_MAX)
    throw new RegistrationFault(
      'invalid_redirect_uri',
      `redirect_uris must be a list of 1 to ${URIS_MAX} addresses`,
    )
  for (const uri of uris) checkRedirect(uri)
  if (name !== undefined && typeof name !== 'string')
    throw new RegistrationFault('invalid_client_metadata', 'client_name must be text')
  // A person would be shown a name that nobody gave.
  if (name?.includes(REPLACED))
    throw new RegistrationFault('invalid_client_metadata', 'client_name must be valid UTF-8')
  if (grants !== undefined && !(Array.isArray(grants) && grants.includes('authorization_code')))
    throw new RegistrationFault('invalid_client_metadata', 'grant_types must have authorization_code')
  if (responses !== undefined && !(Array.isArray(responses) && responses.includes('code')))
    throw new RegistrationFault('invalid_client_metadata', 'response_types must have code')
  return { name: shownName(name), redirectUris: [...new Set(uris as string[])] }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RegistrationFault('invalid_client_metadata', 'the body is not valid JSON')
  }
}

/** Without what could make it look like something else on a page: controls, and marks that turn the direction. */
function shownName(given: string | undefined): string {
  const plain = (given ?? '')
    .normalize('NFKC')
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
  return [...plain].slice(0, NAME_MAX).join('') || 'A client without a name'
}

function checkRedirect(given: unknown): void {
  const fault = (why: string) => new RegistrationFault('invalid_redirect_uri', `redirect_uris: ${why}`)
  if (typeof given !== 'string' || given.length > URI_MAX || !URL.canParse(given))
    throw fault(`each must be an address of at most ${URI_MAX} characters`)
  const url = new URL(given)
  if (url.protocol !== 'https:' && !isLoopback(url))
    throw fault('each must be https, or http on 127.0.0.1, [::1] or localhost')
  if (given.includes('#') || url.username !== '' || url.password !== '')
    throw fault('none may have a fragment, a user or a password')
}

/** How many registrations there may be in a minute, of one address and of all. */
export class RegistrationRate {
  private since = 0
  private all = 0
  private readonly byAddress = new Map<string, number>()

  /** @param now epoch ms */
  constructor(private readonly now: () => number) {}

  /** @throws SvcError too_many */
  admit(address: string): void {
    const now = this.now()
    if (now - this.since >= MINUTE_MS || this.byAddress.size > ADDRESSES_MAX) {
      this.since = now
      this.all = 0
      this.byAddress.clear()
    }
    const own = (this.byAddress.get(address) ?? 0) + 1
    if (own > OF_ONE_ADDRESS || this.all >= OF_ALL)
      throw new SvcError('too_many', 'too many clients register; wait a minute', {
        retryAfter: Math.ceil((this.since + MINUTE_MS - now) / 1_000),
      })
    this.byAddress.set(address, own)
    this.all++
  }
}
