/**
 * Asking an upstream for JSON: one request, bounded, whose failures are sentences for a source's health.
 * They name the status and what to do, never an address, a header or what the upstream wrote.
 */
import { EgressError } from '../../egress/index.ts'
import { parseDigits } from '../../ingest/json-digits.ts'
import { isDeeper } from '../../ingest/json-scan.ts'
import { type Reach, UpstreamError } from '../connector.ts'
import { retryAfter } from '../upstream.ts'

/** Most bytes of an answer that is held. */
export const ANSWER_BYTES = 16 * 1024 * 1024
/** Lists and objects within each other in an answer; an entry of it may nest half as deep. */
const DEPTH_MAX = 200

export interface Ask {
  url: string
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** What it is called in sentences, such as "the API". */
  name: string
  /** Which field to look at when it refuses the credential. */
  credentialField?: string
  /** Statuses that are answers too. */
  allow?: readonly number[]
}

/** An answer that was read whole. */
export interface Answer {
  status: number
  headers: Headers
  bytes: Buffer
}

/** @returns an answer of status 2xx, or one that is allowed. @throws UpstreamError; what the signal was aborted with */
export async function ask(request: Ask, reach: Reach): Promise<Answer> {
  const { clock, signal } = reach
  const { url, method = 'GET', headers, body, name, allow = [] } = request
  try {
    const response = await reach.fetch(url, { method, headers, body, signal })
    const { status } = response
    if (!response.ok && !allow.includes(status)) {
      await response.body?.cancel()
      throw refusal(request, response, clock.now())
    }
    return { status, headers: response.headers, bytes: await wholeOf(response, name) }
  } catch (error) {
    if (error instanceof UpstreamError || signal.aborted) throw error
    if (error instanceof EgressError) throw new UpstreamError(unreachable(name, error.fault.message))
    // A fetch has no other way to say that a stream broke off.
    if (error instanceof TypeError) throw new UpstreamError(`${name} broke its answer off; it is asked again`)
    throw error
  }
}

/** The JSON of an answer. @throws UpstreamError no JSON, or nested too deep */
export function jsonOf({ bytes, headers }: Answer, name: string): unknown {
  if (isDeeper(bytes, [0, bytes.length], DEPTH_MAX))
    throw new UpstreamError(`${name} answers with values nested more than ${DEPTH_MAX} deep; ask it for less`)
  try {
    return parseDigits(bytes.toString('utf8'))
  } catch {
    const type = /^[\w.+-]+\/[\w.+-]+/.exec(headers.get('content-type') ?? '')?.[0]
    throw new UpstreamError(
      `${name} did not answer with JSON${type ? ` but with ${type}` : ''}; check the URL, which may lead to a page for people`,
    )
  }
}

async function wholeOf(response: Response, name: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const tooLarge = () =>
    new UpstreamError(`${name} answered with more than ${ANSWER_BYTES / 1_048_576} MiB; ask it for less`)
  if (!response.body) return Buffer.alloc(0)
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function unreachable(name: string, reason: string): string {
  return `${name} cannot be reached: ${reason}; check the URL, and that it can be reached from here`
}

function refusal({ name, credentialField }: Ask, { status, headers }: Response, now: number): UpstreamError {
  const retryAfterMs = retryAfter(headers.get('retry-after'), now)
  if (status === 429)
    return new UpstreamError(`rate limited by ${name} (429)${until(retryAfterMs, now)}`, retryAfterMs)
  if (status >= 500)
    return new UpstreamError(`${name} failed (${status})${until(retryAfterMs, now)}`, retryAfterMs)
  if (status === 401 || status === 403)
    return new UpstreamError(
      `${name} refused the request (${status}); check ${credentialField ?? 'the credential'} and what it may read`,
    )
  if (status === 404) return new UpstreamError(`${name} has nothing at this URL (404); check the URL`)
  if (status >= 300 && status < 400)
    return new UpstreamError(`${name} redirects to no address that is followed (${status}); check the URL`)
  return new UpstreamError(`${name} answered ${status}; check the URL and what is sent`)
}

function until(retryAfterMs: number | null, now: number): string {
  if (retryAfterMs === null) return ''
  return `; it asks to be left alone until ${new Date(now + retryAfterMs).toISOString().slice(11, 16)} UTC`
}
