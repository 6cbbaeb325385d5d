/**
 * Calls to the daemon, each with the credential of the client it is for. What the daemon refuses, and
 * a daemon that does not answer, becomes a DaemonError whose message an agent can act on.
 */
import { readRetryAfter } from '../../schemas/retry-after.ts'
import { type Asked, type Call, type Given, requestOf } from '../client/call.ts'
import * as calls from '../client/calls.ts'
import type { Exchange, Received } from './exchange.ts'

const TIMEOUT_MS = 60_000
/** Asked of a client whose call met a daemon that restarts. */
const RETRY_S = 2

/** Why the daemon did not do it. */
export class DaemonError extends Error {
  /** HTTP status of its answer; null: it did not answer. */
  readonly status: number | null
  /** Whether the same call may work later, and in how many seconds. */
  readonly retryAfter: number | null
  /** Whether the call carried a credential. */
  readonly hasCredential: boolean
  constructor(message: string, status: number | null, retryAfter: number | null, hasCredential = true) {
    super(message)
    this.hasCredential = hasCredential
    this.name = 'DaemonError'
    this.status = status
    this.retryAfter = retryAfter
  }

  /** Whether another request is what helps: what was asked for is not there, not allowed, or breaks a rule. */
  get isClients(): boolean {
    return this.status === 400 || this.status === 403 || this.status === 404
  }
}

/** A daemon by its address. */
export class Daemon {
  constructor(
    /** Base address, without a trailing slash. */
    readonly url: string,
    private readonly exchange: Exchange,
    private readonly userAgent: string,
  ) {}

  /**
   * The same daemon, called with one client's credential, as its token is at each call; null: none. With one that has lapsed
   * it is not asked: each wrong token counts as a guess of whoever is at this address.
   */
  as(who: string | null | { readonly token: string | null; readonly isLapsed: boolean }): Caller {
    return new Caller(async (asked, signal) => {
      const { token, isLapsed } = typeof who === 'object' && who ? who : { token: who, isLapsed: false }
      if (isLapsed) throw new DaemonError('the access token is no longer known; refresh it', 401, null)
      return this.text(asked, signal, token)
    })
  }

  /** Why the daemon cannot be asked just now; null: it answers. */
  async fault(): Promise<string | null> {
    try {
      await this.as(null).ask(calls.getHealth)
      return null
    } catch (error) {
      if (error instanceof DaemonError) return error.message
      throw error
    }
  }

  private async text(
    { method, path, body, type }: Asked,
    signal: AbortSignal | undefined,
    token: string | null,
  ): Promise<string> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const headers: Record<string, string> = {
      'user-agent': this.userAgent,
      accept: 'application/json',
      'x-svc-origin': 'mcp',
    }
    if (token !== null) headers.authorization = `Bearer ${token}`
    if (type !== undefined) headers['content-type'] = type
    let answer: Received
    try {
      answer = await this.exchange(this.url + path, {
        ...{ method, headers, body },
        signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      })
    } catch (error) {
      throw unreachable(error as NodeJS.ErrnoException, timeout.aborted)
    }
    if (answer.status >= 200 && answer.status < 300) return answer.text
    throw refusal(answer, token !== null)
  }
}

/** The daemon for one client. */
export class Caller {
  constructor(private readonly send: (asked: Asked, signal: AbortSignal | undefined) => Promise<string>) {}

  /** The body of the answer as it came. @throws DaemonError */
  text<T, Input>(
    call: Call<T, Input>,
    ...[input, signal]: Given<NoInfer<Input>, AbortSignal>
  ): Promise<string> {
    return this.send(requestOf(call as Call<T, object>, input as object), signal)
  }

  /** What a call answers. @throws DaemonError */
  async ask<T, Input>(call: Call<T, Input>, ...given: Given<NoInfer<Input>, AbortSignal>): Promise<T> {
    const text = await this.text(call, ...given)
    try {
      return JSON.parse(text) as T
    } catch {
      throw new DaemonError(
        'what answers at the address of the daemon is not svc; an operator must give svc mcp the daemon’s own address with --svcd',
        null,
        null,
      )
    }
  }
}

function refusal({ status, headers, text }: Received, hasCredential: boolean): DaemonError {
  if (status >= 300 && status < 400)
    return new DaemonError(
      `the address of the daemon answers with a redirect (HTTP ${status}); an operator must give svc mcp the daemon's own address with --svcd`,
      status,
      null,
    )
  const askedMs = readRetryAfter(headers['retry-after'], Date.now())
  const mayRetry = status === 429 || status === 502 || status === 503 || status === 504
  return new DaemonError(
    detailOf(text) ?? `the daemon answered with HTTP ${status} and no reason`,
    status,
    mayRetry ? (askedMs === null ? RETRY_S : Math.ceil(askedMs / 1_000)) : null,
    hasCredential,
  )
}

function unreachable(error: NodeJS.ErrnoException, timedOut: boolean): DaemonError {
  if (timedOut)
    return new DaemonError(`the daemon did not answer within ${TIMEOUT_MS / 1000} seconds`, null, RETRY_S)
  if (error.name === 'AbortError') return new DaemonError('the call was cancelled', null, null)
  return new DaemonError(
    `the daemon is not reachable (${error.code ?? error.message}); it may be restarting`,
    null,
    RETRY_S,
  )
}

/** The `detail` sentence of an error answer, or null when the body is not one. */
function detailOf(text: string): string | null {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown }
    return typeof detail === 'string' ? detail : null
  } catch {
    // A proxy's page, or a skill's fault, which the daemon answers as plain text.
    return /^[^<]{1,500}$/.test(text.trim()) ? text.trim() : null
  }
}
