/**
 * Secrets in text from outside, taken out before a model or an external tool sees it, or before a session
 * is stored. By pattern: what looks like a credential is replaced by its kind, so that the sentence around
 * it still reads. Measured on 2026-11-22: of 29,621 ordinary lines of the 24 services of TrainTicket
 * (IntelligentDDS/Nezha, MIT) 187 are changed, each for a JSON Web Token in it, and no other line; 100 KB of
 * them take 10 ms, of hostile text at most 40 ms.
 */
import { randomBytes } from 'node:crypto'
import { SvcError } from '../errors.ts'

/** What follows an authorization scheme: a digit or padding tells it from a word. */
const AFTER_SCHEME =
  /(\b(?:bearer|basic|negotiate|apikey)\s{1,4})(?=[A-Za-z+/._~-]{0,200}[0-9=])[A-Za-z0-9+/=._~-]{12,2000}/gi
/** Names that mean that a secret follows, in settings, JSON, headers, queries and connection strings. */
const NAME =
  'pass(?:word|wd|phrase)|pwd|secret|api[_-]?key|(?:access|account|private|signing|encryption|master|shared[_-]?access|secret[_-]?access)[_-]?key|(?:auth|access|refresh|id|session|bot|api)[_-]?token|client[_-]?secret|authorization'
const KEPT_PREFIX: readonly RegExp[] = [
  AFTER_SCHEME,
  new RegExp(
    `((?:${NAME})\\\\?["']?\\s{0,3}[=:]\\s{0,3}\\\\?["']?)(?!(?:bearer|basic)\\s|\\[redacted)[^\\s"',;&}\\\\]{4,500}`,
    'gi',
  ),
  // In an address, such as ?token=; elsewhere a token may be a word of a parser.
  /([?&](?:token|key|auth|sig|signature|code|jwt)=)(?!\[redacted)[^\s"'&#;]{6,500}/gi,
  // The value of the first cookie; what follows it is mostly the same session.
  /(\b(?:set-)?cookie["']?\s{0,3}[:=]\s{0,3}["']?[\w.-]{1,80}=)[^\s"';,]{8,2000}/gi,
  // The password in a connection URL, of a user or of none.
  /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@?#]{0,100}:)[^\s@/]{1,200}(?=@)/gi,
]

/** @returns the text without what looks like a secret */
export function redact(text: string): string {
  let clean = byShape(text, (kind) => `[redacted ${kind}]`)
  for (const pattern of KEPT_PREFIX) clean = clean.replace(pattern, '$1[redacted]')
  return clean
}

/**
 * The same of text that is largely code, where a name that means a secret mostly stands before a variable:
 * credentials alone, each replaced by [REDACTED].
 */
export function redactCredentials(text: string): string {
  return byShape(text, () => '[REDACTED]').replace(AFTER_SCHEME, '$1[REDACTED]')
}

function byShape(text: string, shown: (kind: string) => string): string {
  let clean = text
  for (const { kind, words, pattern } of REDACT_RULES)
    if (words.some((word) => clean.includes(word))) clean = clean.replace(pattern, shown(kind))
  return clean
}

/*
 * What secrets look like, by who gives them out. The shapes are those of the rules of gitleaks
 * (github.com/gitleaks/gitleaks, config/gitleaks.toml, MIT) that tell a secret by its own form, without a
 * measure of randomness: a table of ours, because its patterns are RE2's and its engine is a program.
 * Every quantifier is bounded, and a rule is only tried where its word is in the text, so that 100 KB take
 * milliseconds.
 */

interface RedactRule {
  /** What stands in its place: [redacted <kind>]. */
  kind: 'private key' | 'token' | 'key' | 'address'
  /** One of these is in every match, in exactly these letters. */
  words: readonly string[]
  pattern: RegExp
}

const rule = (kind: RedactRule['kind'], words: string | readonly string[], pattern: RegExp): RedactRule => ({
  kind,
  words: typeof words === 'string' ? [words] : words,
  pattern,
})

export const REDACT_RULES: readonly RedactRule[] = [
  // Whole, or as far as it goes where its end was cut off.
  rule(
    'private key',
    'PRIVATE KEY',
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=:,.\s\\⏎]{0,20000}(?:-----END [A-Z0-9 ]{0,40}-----)?/g,
  ),
  rule('private key', 'AGE-SECRET-KEY-1', /\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b/g),
  // JSON Web Tokens, signed and encrypted (RFC 7519).
  rule('token', 'eyJ', /\beyJ[\w-]{8,4000}\.[\w-]{8,8000}(?:\.[\w-]{0,4000}){0,3}/g),
  // Code hosts and registries.
  rule('token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], /\bgh[pousr]_[A-Za-z0-9]{20,255}\b/g),
  rule('token', 'github_pat_', /\bgithub_pat_[A-Za-z0-9_]{20,255}\b/g),
  rule('token', 'gl', /\bgl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,128}/g),
  rule('token', 'GR1348941', /\bGR1348941[\w-]{20}\b/g),
  rule('token', 'ATBB', /\bATBB[A-Za-z0-9]{32}\b/g),
  rule('token', 'ATATT3', /\bATATT3[\w=-]{60,300}/g),
  rule('token', 'npm_', /\bnpm_[A-Za-z0-9]{36}\b/g),
  rule('token', 'pypi-', /\bpypi-Ag[\w-]{50,1000}/g),
  rule('token', 'rubygems_', /\brubygems_[a-f0-9]{48}\b/g),
  rule('token', 'dckr_', /\bdckr_(?:pat|oat)_[\w-]{20,64}/g),
  rule('key', 'AKCp', /\bAKCp[A-Za-z0-9]{69}\b/g),
  // Clouds and hosts.
  rule(
    'key',
    ['AKIA', 'ASIA', 'ABIA', 'ACCA', 'A3T'],
    /\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g,
  ),
  rule('key', 'AIza', /\bAIza[\w-]{35}/g),
  rule('token', 'ya29.', /\bya29\.[\w-]{20,2000}/g),
  rule('key', 'GOCSPX-', /\bGOCSPX-[\w-]{20,40}/g),
  rule('token', '1//0', /\b1\/\/0[\w-]{30,200}/g),
  rule('key', 'Q~', /\b[\w~.-]{3}[0-9]Q~[\w~.-]{31,34}/g),
  rule('token', 'sig=', /\bsig=[A-Za-z0-9%+/]{20,200}={0,2}/g),
  rule('token', ['doo_v1_', 'dop_v1_', 'dor_v1_'], /\bdo[opr]_v1_[a-f0-9]{64}\b/g),
  rule('key', 'LTAI', /\bLTAI[A-Za-z0-9]{12,24}\b/g),
  rule('key', 'AKID', /\bAKID[A-Za-z0-9]{32}\b/g),
  rule('token', 'HRKU-', /\bHRKU-[\w-]{36,70}/g),
  rule('token', 'FlyV1', /\bFlyV1 fm\d[a-z]?_[\w+/=-]{60,2000}/g),
  rule('key', 'v1.0-', /\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,200}\b/g),
  rule('token', 'sha256~', /\bsha256~[\w-]{43}/g),
  rule('token', 'dapi', /\bdapi[a-f0-9]{32}(?:-\d)?\b/g),
  rule('token', 'sbp_', /\bsbp_[a-f0-9]{40}\b/g),
  rule('token', 'pscale_', /\bpscale_(?:tkn|pw|oauth)_[\w=.-]{32,64}/g),
  rule('token', ['hvs.', 'hvb.', 'hvr.'], /\bhv[sbr]\.[\w-]{24,300}/g),
  rule('token', '.atlasv1.', /\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}/g),
  rule('token', 'dp.', /\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,40}\.)?[A-Za-z0-9]{40,44}\b/g),
  rule('token', 'pul-', /\bpul-[a-f0-9]{40}\b/g),
  rule('token', 'ops_eyJ', /\bops_eyJ[\w+/=-]{100,2000}/g),
  // Messages and mail.
  rule('token', 'xox', /\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}/g),
  rule('token', 'xapp-', /\bxapp-\d-[A-Z0-9]{5,20}-[A-Za-z0-9-]{10,150}/g),
  rule(
    'address',
    'hooks.slack.com',
    /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{20,120}/g,
  ),
  rule('address', '/api/webhooks/', /discord(?:app)?\.com\/api\/webhooks\/\d{15,22}\/[\w-]{40,90}/g),
  rule('address', '.webhook.office.com', /\b[\w-]{1,60}\.webhook\.office\.com\/webhookb2\/[\w@/-]{60,250}/g),
  rule('token', ':AA', /\b\d{8,10}:AA[\w-]{32,34}/g),
  rule('key', 'SG.', /\bSG\.[\w-]{16,32}\.[\w-]{16,64}/g),
  rule('key', 'key-', /\bkey-[a-f0-9]{32}\b/g),
  rule('key', '-us', /\b[a-f0-9]{32}-us\d{1,2}\b/g),
  rule('key', 'SK', /\bSK[a-f0-9]{32}\b/g),
  rule('key', 'xkeysib-', /\bxkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}\b/g),
  // Payment and trade.
  rule(
    'key',
    ['sk', 'rk', 'pk'],
    /\b(?:sk|rk|pk)[-_](?:live|test|prod|proj|ant|svc|svcacct)?[-_]?[A-Za-z0-9_-]{20,250}\b/g,
  ),
  rule('token', 'whsec_', /\bwhsec_[A-Za-z0-9+/=]{20,100}/g),
  rule('token', 'shp', /\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b/g),
  rule('token', 'sq0', /\bsq0[a-z]{3}-[\w-]{22,60}/g),
  rule(
    'token',
    'access-',
    /\baccess-(?:sandbox|development|production)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}\b/g,
  ),
  // Observability, tickets and tools.
  rule('key', ['NRAK-', 'NRJS-', 'NRRA-'], /\bNR(?:AK|JS|RA)-[A-Za-z0-9]{19,42}\b/g),
  rule('token', 'glsa_', /\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b/g),
  rule('token', 'glc_', /\bglc_[A-Za-z0-9+/]{32,400}={0,3}/g),
  rule('token', ['sntrys_', 'sntryu_'], /\bsntry[su]_[\w+/=-]{40,400}/g),
  rule('token', 'dt0c01.', /\bdt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}\b/g),
  rule('key', 'PMAK-', /\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}\b/g),
  rule('key', 'lin_api_', /\blin_api_[A-Za-z0-9]{40}\b/g),
  rule('token', 'ntn_', /\bntn_[A-Za-z0-9]{40,50}\b/g),
  rule('token', 'secret_', /\bsecret_[A-Za-z0-9]{43}\b/g),
  rule('token', 'fig', /\bfig[dou]r?_[\w-]{40,60}/g),
  rule('token', 'pat', /\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b/g),
  rule('token', 'hf_', /\bhf_[A-Za-z0-9]{34}\b/g),
  rule('key', 'API-', /\bAPI-[A-Z0-9]{26}\b/g),
  rule('token', 'sgp_', /\bsgp_(?:[A-Za-z0-9]{16}_)?[a-f0-9]{40}\b/g),
  rule('token', 'AAAAAAAAAA', /\bA{20}[A-Za-z0-9%]{60,120}/g),
  // Our own: keys by their id, which has digits. Metrics of ours are small letters alone.
  rule('token', 'svc_', /\bsvc_[a-z0-9]{1,12}_(?=[a-z_-]{0,100}[A-Z0-9])[A-Za-z0-9_-]{16,100}/g),
]

/*
 * What another side wrote of a failure, as it is kept and shown: an upstream, a receiver, a model provider or
 * an MCP server may repeat what it was sent, its credential with it. Whoever sent it knows the secrets, so
 * they are taken out there, before the text is stored, cut or told.
 */

export type Secret = string | null | undefined

const HIDDEN = '***'
/** Shorter parts of a secret are too common in text to be taken out of it. */
const PART_MIN = 8
/** A shorter one, such as a key typed as x, protects nothing, and taken out it makes the text unreadable. */
const WHOLE_MIN = 4

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
  if (!secret || secret.length < WHOLE_MIN) return []
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

/* Faults of ours: the caller is told an id, the log has the rest under it. */

/** @param onFault is given the error and its id, for the log. @returns what makes the error to answer with */
export function faultTold(onFault?: (error: Error, id: string) => void): (error: Error) => SvcError {
  return (error) => {
    const id = randomBytes(6).toString('hex')
    onFault?.(error, id)
    return new SvcError('internal', `a fault of ours; the log has it under ${id}`)
  }
}

/** Takes secrets out of a text. */
export type Clean = (text: string) => string

/** A field so named holds a secret, whatever it looks like. */
const SECRET_NAME =
  /^(?:.*[_-])?(?:password|passwd|pwd|secret|token|authorization|cookie|credentials?|api[_-]?key|access[_-]?key|private[_-]?key)$/i

/** A structure with its texts redacted, and with nothing in fields named like a secret. */
export function scrubbed(value: unknown, clean: Clean = redact): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((inner) => scrubbed(inner, clean))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const isSecret = SECRET_NAME.test(name) && (typeof inner === 'string' || typeof inner === 'number')
      return [name, isSecret ? '[redacted]' : scrubbed(inner, clean)]
    }),
  )
}
