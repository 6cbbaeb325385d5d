/**
 * A stored secret is for the address it was entered for. Whoever may change an address could otherwise
 * have the secret sent to a host of theirs; so where the address changes, the secret is entered again.
 * One rule for sources, MCP servers, agents, model providers, tracing, credentials and parameters.
 */
import { fail } from '../errors.ts'

/** Scheme, host and port of an address; null: it is none, or one without a host. */
export function originOf(address: unknown): string | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  const { origin } = new URL(address)
  return origin === 'null' ? null : origin
}

/**
 * Refuses to keep a secret that is stored for another address.
 * @param field as the caller knows it. @param was, now the addresses; blank ones are sent nothing.
 * @throws SvcError invalid
 */
export function refuseMoved(field: string, was: unknown, now: unknown, extra: { field: string }): void {
  if (now === undefined || now === null || now === '' || now === was) return
  const origin = originOf(now)
  if (origin === null || origin !== originOf(was))
    fail('invalid', `${field}: enter it again: the address changed`, extra)
}

/** Host and path, the last part of the path but for two characters: where secrets tend to be. */
export function maskedUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  const parts = pathname.split('/')
  const last = parts.pop() ?? ''
  const shown = last.length > 2 ? `${last.slice(0, 2)}…` : last
  return `${protocol}//${host}${[...parts, shown].join('/')}`
}

/** slack://channel/ and the id, or the name, of a channel. */
const SLACK_CHANNEL = /^slack:\/\/channel\/(?:([A-Z][A-Z0-9]{4,39})|#?([a-z0-9][a-z0-9._-]{0,79}))$/

/** What a channel is called by in Slack's API; null: this is no address of one. */
export function slackChannelOf(url: string): string | null {
  const found = SLACK_CHANNEL.exec(url)
  if (!found) return null
  return found[1] ?? `#${found[2]}`
}
