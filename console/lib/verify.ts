/** How a recipient checks that a post is from here: Standard Webhooks, as docs/triggers.md has it. */
export const VERIFY_SNIPPET = `import { createHmac, timingSafeEqual } from 'node:crypto'

/** headers: by lower-case name; body: a Buffer of what came. */
export function isGenuine(secret, headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = headers
  if (!id || !(Math.abs(Date.now() / 1000 - Number(at)) <= 300)) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const expected = createHmac('sha256', key).update(\`\${id}.\${at}.\`).update(body).digest()
  return signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',')
    const given = Buffer.from(text, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}`
