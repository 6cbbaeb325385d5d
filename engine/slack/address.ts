/** Addresses of channels of Slack: slack://channel/ and the id, or the name, of a channel. */

const ADDRESS = /^slack:\/\/channel\/(?:([A-Z][A-Z0-9]{4,39})|#?([a-z0-9][a-z0-9._-]{0,79}))$/

/** What a channel is called by in Slack's API; null: this is no address of one. */
export function channelOf(url: string): string | null {
  const found = ADDRESS.exec(url)
  if (!found) return null
  return found[1] ?? `#${found[2]}`
}
