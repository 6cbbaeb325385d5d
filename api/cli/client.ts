/**
 * HTTP calls of the client commands: a request in, the answer's text out. What the daemon refuses,
 * and a daemon that does not answer, becomes a CliError that says what to do about it.
 */
import type { MergeConflict } from '../../schemas/types.ts'
import { version } from '../version.ts'
import type { Target } from './credentials.ts'
import { CliError, EXIT } from './exit.ts'
import { conflictLines } from './field-text.ts'
import { escapeLine, type Io } from './terminal.ts'

const TIMEOUT_MS = 60_000
const CANCEL_MS = 3_000

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is, with `headers` naming its type. */
  body?: Uint8Array
  headers?: Record<string, string>
}

export interface Answer {
  status: number
  /** The body exactly as it came. */
  text: string
  headers: Headers
}

export class Client {
  constructor(
    readonly target: Target,
    private readonly io: Pick<Io, 'fetch' | 'interrupted'>,
  ) {}

  /** One call. @throws CliError when it is not answered with 2xx. */
  async call(path: string, call: Call = {}): Promise<Answer> {
    const answer = await this.attempt(path, call)
    if (answer.status >= 200 && answer.status < 300) return answer
    throw this.refusal(answer)
  }

  /** One call whose answer may be any status. @throws CliError when there is no answer. */
  async attempt(path: string, call: Call = {}): Promise<Answer> {
    const body = call.json === undefined ? call.body : Buffer.from(JSON.stringify(call.json))
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.io.interrupted])
    try {
      const response = await this.io.fetch(this.target.url + path, {
        method: call.method ?? 'GET',
        headers: {
          ...this.headers(),
          ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
          ...call.headers,
        },
        body: body as Uint8Array<ArrayBuffer> | undefined,
        // A redirect would carry the token to another address.
        redirect: 'manual',
        signal,
      })
      return { status: response.status, text: await response.text(), headers: response.headers }
    } catch (error) {
      throw this.unreachable(error)
    }
  }

  /**
   * Opens a stream of server-sent events. The answer may be any status.
   * @param json posted, where it is given
   */
  async open(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    json?: unknown,
  ): Promise<Response> {
    try {
      return await this.io.fetch(this.target.url + path, {
        headers: {
          ...this.headers(),
          accept: 'text/event-stream',
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
        redirect: 'manual',
        signal,
      })
    } catch (error) {
      throw this.unreachable(error)
    }
  }

  /** Tells the daemon that what it does is not wanted any more, though the person has ended the command. */
  async cancel(path: string): Promise<void> {
    try {
      await this.io.fetch(this.target.url + path, {
        method: 'POST',
        headers: this.headers(),
        redirect: 'manual',
        signal: AbortSignal.timeout(CANCEL_MS),
      })
    } catch (error) {
      throw new CliError(
        `interrupted, but the daemon could not be told: ${(error as Error).message}`,
        EXIT.interrupted,
      )
    }
  }

  /** What a refusal means, and what to do about it. */
  refusal(answer: { status: number; text: string }): CliError {
    const { status } = answer
    if (status >= 300 && status < 400)
      return new CliError(
        `${this.target.url} answers with a redirect (HTTP ${status}); name the daemon's own address with --svcd`,
        EXIT.unavailable,
        { status },
      )
    const detail = detailOf(answer.text) ?? 'the answer is not one of svc'
    const advice = status === 401 ? `; ${this.credentialAdvice()}` : ''
    const conflicts = conflictsOf(answer.text).flatMap((conflict) => conflictLines(conflict))
    return new CliError(
      [`${escapeLine(detail)} (HTTP ${status} from ${this.target.url})${advice}`, ...conflicts].join('\n'),
      exitCodeOf(status),
      { ...problemOf(answer.text), status },
    )
  }

  private credentialAdvice(): string {
    return this.target.token === null
      ? 'pass --token, or set SVC_AUTH_TOKEN'
      : 'the token that was sent is not known there: pass another with --token, or set SVC_AUTH_TOKEN'
  }

  private unreachable(error: unknown): CliError {
    if (this.io.interrupted.aborted) return new CliError('interrupted', EXIT.interrupted)
    const { name, cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
    if (name === 'TimeoutError')
      return new CliError(
        `${this.target.url} did not answer within ${TIMEOUT_MS / 1000} seconds; see its log`,
        EXIT.unavailable,
      )
    const reason =
      cause?.code === 'ECONNREFUSED' ? 'connection refused' : (cause?.code ?? cause?.message ?? message)
    return new CliError(
      `cannot reach the daemon at ${this.target.url} (${reason}); start it with "svc up", or name another with --svcd or SVCD_URL`,
      EXIT.unavailable,
    )
  }

  private headers(): Record<string, string> {
    return {
      'user-agent': `svc/${version}`,
      accept: 'application/json',
      ...(this.target.token === null ? {} : { authorization: `Bearer ${this.target.token}` }),
    }
  }
}

/** A refusal of the credential, and a daemon that is not ready, are told from one of what was asked. */
function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.credentials
  return status === 503 ? EXIT.unavailable : EXIT.failed
}

/** The `detail` sentence of an error answer, or null when the body is not one. */
export function detailOf(text: string): string | null {
  const { detail } = problemOf(text)
  return typeof detail === 'string' ? detail : null
}

/** The fields two writers changed, of a 409; empty for any other answer. */
function conflictsOf(text: string): MergeConflict[] {
  const { conflicts } = problemOf(text)
  return Array.isArray(conflicts) ? (conflicts as MergeConflict[]) : []
}

/** The fields of an error answer; none when the body is not one. */
export function problemOf(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  } catch {
    // Not JSON: a proxy's page, or another program on that port.
    return {}
  }
}
