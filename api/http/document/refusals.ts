/**
 * Which refusals an operation can meet, by what it takes and who may call it (SPEC.md, Errors), as responses
 * that operations share. The contract tests fail where an answer has a status that its operation does not name.
 */
import type { Scope } from '../scopes.ts'

export interface Asked {
  method: string
  /** As the document has it, with {names}. */
  path: string
  scope: Scope
  /** It reads a body. */
  hasBody: boolean
  /** It takes an Idempotency-Key. */
  isRepeatable: boolean
  /** Names of its query fields. */
  queries: readonly string[]
}

interface Refusal {
  status: number
  description: string
  detail: string
  headers?: Readonly<Record<string, { description: string; schema: object }>>
}

const RETRY = {
  'Retry-After': {
    description: 'Seconds to wait; absent where waiting does not help.',
    schema: { type: 'integer' },
  },
}

export const refusals = {
  Invalid: {
    status: 400,
    description: 'A value breaks a rule; detail names the field and the rule.',
    detail: 'window must be a number and one of s, m, h, d, such as 15m',
  },
  Unauthenticated: {
    status: 401,
    description: 'No credential, or one that is not known; a signature that does not match.',
    detail: 'authentication required',
    headers: { 'WWW-Authenticate': { description: 'Bearer.', schema: { type: 'string' } } },
  },
  Forbidden: {
    status: 403,
    description: 'The credential lacks the scope, or the request comes from a foreign host or origin.',
    detail: "this credential lacks the 'admin' scope",
  },
  NotFound: {
    status: 404,
    description: 'Nothing has that name or id.',
    detail: 'no source is named checkout',
  },
  BodyLate: {
    status: 408,
    description: 'The body did not come in time.',
    detail: 'the body did not come within 30 s',
  },
  Conflict: {
    status: 409,
    description:
      'The name is taken, the object is in use or was changed since, or its state does not allow it.',
    detail: 'a source named checkout exists',
  },
  TooLarge: {
    status: 413,
    description: 'The body, or the number of its items, is over its limit.',
    detail: 'the body is larger than this route takes (1 MiB)',
  },
  UnsupportedMedia: {
    status: 415,
    description: 'The Content-Type or Content-Encoding is not accepted.',
    detail: 'the Content-Type must be application/json',
  },
  Unprocessable: {
    status: 422,
    description: 'The Idempotency-Key was used with another body, or the plan cannot be applied.',
    detail: 'this Idempotency-Key was used with another body',
  },
  TooMany: {
    status: 429,
    description: 'Too much at once, or too many wrong credentials.',
    detail: 'too many wrong credentials; wait a minute',
    headers: RETRY,
  },
  HeadersTooLarge: {
    status: 431,
    description: 'The headers are larger than 16 KiB.',
    detail: 'the headers are larger than 16 KiB',
  },
  Fault: {
    status: 500,
    description: 'A fault of ours; detail carries an id that is in the log.',
    detail: 'a fault of ours; the log has it under 3f9c2a7d10be',
  },
  UpstreamRefused: {
    status: 502,
    description: 'Another system that was asked refused, or cannot be reached.',
    detail: 'api.github.com cannot be reached',
  },
  Unavailable: {
    status: 503,
    description: 'The daemon is starting, stopping or busy, or a read took longer than it may.',
    detail: 'the daemon is stopping',
    headers: RETRY,
  },
  UpstreamSlow: {
    status: 504,
    description: 'Another system gave no answer in time.',
    detail: 'GitHub gave no answer within 10 seconds',
  },
  StorageFull: {
    status: 507,
    description: 'Storage is at 95 % of its limit, or the volume is full.',
    detail: 'storage is at 95 % of its limit; nothing is stored',
  },
} as const satisfies Readonly<Record<string, Refusal>>

export type RefusalName = keyof typeof refusals

/** Reads that have a body for their question: they change nothing, so nothing is in their way. */
const QUESTIONS = new Set(['/read', '/api/stats', '/api/histogram', '/api/inspect', '/api/labels/preview'])
/** Bodies that name nothing of the instance. */
const NAMELESS = new Set(['/api/session', '/api/slack/events', '/api/slack/channels/changed', '/api/keys'])
/** Query fields that name something. */
const NAMES = new Set([
  'project',
  'trigger',
  'agent',
  'name',
  'provider',
  'firing',
  'label',
  'sources',
  'result',
])
const ASKS_OTHERS =
  /^\/api\/(integrations\/github|catalog\/sync\/(adoption|pull-request)$|(projects|usecases)\/\{id\}\/actions\/)/
/** What they are of may not be there: a repository that is followed, a page's last proposal, a secured instance. */
const MAY_BE_ABSENT = /^\/(api\/catalog\/sync\/adoption$|api\/proposals$|\.well-known\/)/
/** Refused as clients of OAuth expect it (RFC 6749, section 5.2; RFC 7591, section 3.2.2). */
const OF_OAUTH = /^\/oauth\//
/** Events in: each may be sent again under a key, and finds the store full or the daemon at its bounds. */
const TAKES_EVENTS = /^\/(ingest\/|v1\/|remember$)/

/** @returns names of `refusals`, by status. */
export function refusalsOf({ method, path, scope, hasBody, queries, isRepeatable }: Asked): RefusalName[] {
  const isOpen = scope === 'public'
  const writes = method !== 'GET' && !QUESTIONS.has(path)
  const isChecked =
    !isOpen || ['/api/session', '/api/slack/events', '/hooks/catalog', '/oauth/revoke'].includes(path)
  const met: Record<RefusalName, boolean> = {
    Invalid: true,
    Unauthenticated: isChecked && !(method === 'DELETE' && isOpen),
    Forbidden: true,
    NotFound:
      path.includes('{') ||
      MAY_BE_ABSENT.test(path) ||
      (hasBody && !NAMELESS.has(path)) ||
      queries.some((query) => NAMES.has(query)),
    // Whoever takes no body reads one all the same, to say so.
    BodyLate: method !== 'GET',
    // A plan of what is picked refuses what the delete itself would.
    Conflict: writes || queries.includes('delete'),
    TooLarge: method !== 'GET',
    UnsupportedMedia: hasBody,
    Unprocessable: isRepeatable || TAKES_EVENTS.test(path),
    TooMany: path !== '/health',
    HeadersTooLarge: true,
    Fault: true,
    UpstreamRefused: ASKS_OTHERS.test(path) || (writes && path === '/api/catalog/sync'),
    Unavailable: true,
    UpstreamSlow: ASKS_OTHERS.test(path),
    StorageFull: writes,
  }
  return (Object.keys(refusals) as RefusalName[]).filter((name) => met[name])
}

const OTLP = /^\/v1\//

/** Of calls of OAuth, those that have its form too. */
const OAUTH: readonly RefusalName[] = ['Invalid', 'Unauthenticated']

/** Where the document has a refusal of an operation; those of exports are google.rpc.Status too. */
export function refusalRef(name: RefusalName, path: string): string {
  const form = OTLP.test(path) ? 'Export' : OF_OAUTH.test(path) && OAUTH.includes(name) ? 'Oauth' : ''
  return `#/components/responses/${form}${name}`
}

/** Of other systems that are asked; an export asks none. */
const UPSTREAM = new Set([502, 504])

/** The responses that operations share. */
export function sharedResponses(): Record<string, object> {
  const all = Object.entries<Refusal>(refusals)
  return {
    ...Object.fromEntries(all.map(([name, refusal]) => [name, response(refusal, plainContent(refusal))])),
    ...Object.fromEntries(
      all
        .filter(([, { status }]) => !UPSTREAM.has(status))
        .map(([name, refusal]) => [`Export${name}`, response(refusal, exportContent(refusal))]),
    ),
    ...Object.fromEntries(
      OAUTH.map((name) => [`Oauth${name}`, response(refusals[name], oauthContent(refusals[name]))]),
    ),
  }
}

const response = ({ description, headers }: Refusal, content: object) => ({
  description,
  ...(headers ? { headers } : {}),
  content,
})

const plainContent = ({ detail }: Refusal) => ({
  'application/json': { schema: { $ref: '#/components/schemas/Problem' }, example: { detail } },
})

const oauthContent = ({ detail }: Refusal) => ({
  'application/json': { schema: { $ref: '#/components/schemas/OauthProblem' }, example: { detail } },
})

const exportContent = ({ detail }: Refusal) => ({
  'application/json': { schema: { $ref: '#/components/schemas/OtlpProblem' }, example: { detail } },
  'application/x-protobuf': { schema: { type: 'string', format: 'binary' } },
})
