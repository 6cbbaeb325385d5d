/** Which GitHub a credential is for. */
import { fail } from '../errors.ts'
import { addressFault } from '../secret-variables.ts'

const API_URL = 'https://api.github.com'

/** A base address without a slash at its end; blank: GitHub's own. @throws SvcError invalid */
export function apiUrlOf(given = ''): string {
  const text = given.trim()
  if (text === '') return API_URL
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    fail('invalid', 'api_url must be an http or https address, such as https://HOST/api/v3', {
      field: 'api_url',
    })
  if (url.username || url.password || url.search || text.includes('#'))
    fail('invalid', 'api_url must have no user, query or fragment', { field: 'api_url' })
  const fault = addressFault(text)
  if (fault !== null) fail('invalid', `api_url: ${fault}`, { field: 'api_url' })
  return url.href.replace(/\/+$/, '')
}
