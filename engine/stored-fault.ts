/**
 * What another side wrote of a failure, as it is kept and shown: an upstream, a receiver, a model provider or
 * an MCP server may repeat what it was sent, its credential with it. Whoever sent it knows the secrets, so
 * they are taken out there, before the text is stored, cut or told.
 */
import { redact } from './redact.ts'

type Secret = string | null | undefined

export const HIDDEN = '***'
/** Shorter parts of a secret are too common in text to be taken out of it. */
const PART_MIN = 8

/**
 * The text without the secrets, in every form a sender or an echo gives them: whole, without the scheme
 * before them, in JSON, in an address, and in base64.
 */
export function withoutSecrets(text: string, secrets: readonly Secret[]): string {
  const forms = [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length)
  return withoutHead(
    forms.reduce((left, form) => left.replaceAll(form, HIDDEN), text),
    forms,
  )
}

/** The same, without what looks like another's secret too: for texts that are stored. */
export const storedFault = (text: string, secrets: readonly Secret[]): string =>
  redact(withoutSecrets(text, secrets))

function formsOf(secret: Secret): string[] {
  if (!secret) return []
  const bare = secret.replace(/^\S+ +/, '')
  const parts = bare === secret ? [] : [bare]
  // A connection URL is a secret for the sake of its password.
  const password = URL.canParse(secret) ? new URL(secret).password : ''
  if (password !== '') parts.push(password, decoded(password))
  const whole = [secret, ...parts.filter(({ length }) => length >= PART_MIN)]
  return whole.flatMap((form) => [
    form,
    ...[
      JSON.stringify(form).slice(1, -1),
      encodeURIComponent(form),
      Buffer.from(form).toString('base64'),
      Buffer.from(form).toString('base64').replace(/=+$/, ''),
    ].filter(({ length }) => length >= PART_MIN),
  ])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // Not encoded: it is what it says.
    return text
  }
}

/** A text that was cut off in the middle of a secret ends with the beginning of it. */
function withoutHead(text: string, forms: readonly string[]): string {
  const [, body = '', end = ''] = /^([\s\S]*?)(…?)$/.exec(text)!
  for (const form of forms)
    for (let length = form.length - 1; length >= PART_MIN; length--)
      if (body.endsWith(form.slice(0, length))) return body.slice(0, -length) + HIDDEN + end
  return text
}
