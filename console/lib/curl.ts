import { shellQuote } from '../../schemas/plain-text.ts'

/** Commands to copy. Every value is quoted for a POSIX shell, so a name cannot become a command. */
export { shellQuote } from '../../schemas/plain-text.ts'

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
