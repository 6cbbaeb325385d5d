/**
 * Secrets in text from outside, taken out before a model or an external tool sees it, or before a session
 * is stored. By pattern: what looks like a credential is replaced by its kind, so that the sentence around
 * it still reads.
 */

const RULES: readonly (readonly [kind: string, pattern: RegExp])[] = [
  [
    'private key',
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  ],
  [
    'token',
    /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[A-Za-z0-9_-]{20,64})\b/g,
  ],
  ['token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,250}\b/g],
  ['key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['key', /\bAIza[A-Za-z0-9_-]{35}\b/g],
  ['key', /\b(?:sk|rk|pk)[-_](?:live|test|proj|ant|svc)?[-_]?[A-Za-z0-9_-]{20,200}\b/g],
  ['token', /\bwhsec_[A-Za-z0-9+/=]{20,100}/g],
  ['token', /\bsvc_[a-z]{1,12}_[A-Za-z0-9_-]{16,100}\b/g],
  ['token', /\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,1000}/g],
]
/** What follows an authorization scheme. */
const AFTER_SCHEME = /(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{12,2000}/gi
/** What follows an authorization scheme, a name that means a secret, or stands before @ in an address. */
const KEPT_PREFIX: readonly RegExp[] = [
  AFTER_SCHEME,
  /((?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|client[_-]?secret)["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;&}]{4,500}/gi,
  /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{1,100}:)[^\s@/]{1,200}(?=@)/gi,
]

/** @returns the text without what looks like a secret */
export function redact(text: string): string {
  let clean = text
  for (const [kind, pattern] of RULES) clean = clean.replace(pattern, `[redacted ${kind}]`)
  for (const pattern of KEPT_PREFIX) clean = clean.replace(pattern, '$1[redacted]')
  return clean
}

/**
 * The same of text that is largely code, where a name that means a secret mostly stands before a variable:
 * credentials alone, each replaced by [REDACTED].
 */
export function redactCredentials(text: string): string {
  let clean = text
  for (const [, pattern] of RULES) clean = clean.replace(pattern, '[REDACTED]')
  return clean.replace(AFTER_SCHEME, '$1[REDACTED]')
}
