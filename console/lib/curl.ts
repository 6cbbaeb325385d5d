/** Commands to copy. Every value is quoted for a POSIX shell, so a name cannot become a command. */
export const shellQuote = (text: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

export interface CurlOptions {
  url: string
  /** Shown key, or a placeholder; absent in open mode and for signed sources. */
  token?: string
  body: string
  type?: string
  /** More headers, each whole. */
  headers?: readonly string[]
}

export function curlCommand({
  url,
  token,
  body,
  type = 'application/json',
  headers = [],
}: CurlOptions): string {
  const parts = ['curl', '-X', 'POST', shellQuote(url), '-H', shellQuote(`Content-Type: ${type}`)]
  if (token) parts.push('-H', shellQuote(`Authorization: Bearer ${token}`))
  for (const header of headers) parts.push('-H', shellQuote(header))
  return [...parts, '--data-binary', shellQuote(body)].join(' ')
}

/** A body that fits a source's labels, for its example command. */
export function exampleBody(labels: readonly { name: string; field?: string; type?: string }[]): string {
  const payload: Record<string, unknown> = {}
  for (const { field, name, type } of labels) {
    if (!field || field.startsWith('header.')) continue
    let at = payload
    const path = field.split('.')
    for (const part of path.slice(0, -1)) {
      at[part] ??= {}
      at = at[part] as Record<string, unknown>
    }
    at[path.at(-1)!] = type === 'number' ? 1 : name === 'service' ? 'checkout' : `example-${name}`
  }
  return JSON.stringify({ ...payload, message: 'hello from curl' })
}
