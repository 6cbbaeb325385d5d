/**
 * HTTP calls of the client commands: a request in, the answer's text out. What the daemon refuses,
 * and a daemon that does not answer, becomes a CliError that says what to do about it.
 */
import type { MergeConflict } from '../../schemas/types.ts'
import { type Call, type Given, requestOf } from '../client/call.ts'
import * as calls from '../client/calls.ts'
import { IN_LINES, type Progress, readLines } from '../client/lines.ts'
import { version } from '../version.ts'
import type { Target } from './credentials.ts'
import { CliError, EXIT } from './exit.ts'
import { conflictLines } from './field-text.ts'
import { escapeLine, type Io } from './terminal.ts'

/** The address does not answer as svc does: another program listens there, or a proxy sends its own page. */
const NOT_OURS = 'the answer is not one of svc'
/** By status, what an error page of a proxy between the command and the daemon means, and what to do. */
const PAGES: Readonly<Record<number, string>> = {
  404: `${NOT_OURS}: is the address whole, with the path that a proxy has for svc? It is --svcd, or SVCD_URL`,
  413: `a proxy in front of svc takes no body as large as this one: raise its bound, such as client_max_body_size of nginx`,
  502: 'a proxy in front of svc has no answer of the daemon: does it run?',
  503: 'a proxy in front of svc has no answer of the daemon: does it run?',
  504: 'a proxy in front of svc waited for the daemon in vain: raise how long it waits, such as proxy_read_timeout of nginx',
}
/** Calls that change nothing, though they are no GET. What came of any other that was cut off is not known. */
const CHANGES_NOTHING: ReadonlySet<string> = new Set<string>([
  ...[calls.read, calls.stats, calls.backtest, calls.backtestChange, calls.previewLabel, calls.ask],
  ...[calls.checkCatalog, calls.updateCatalogFile, calls.entityCoverage, calls.previewScenario],
  ...[calls.downloadScenario, calls.testSource, calls.discoverSource, calls.testCredential],
  // It says itself how much arrived; a code of a login opens once.
  ...[calls.ingest, calls.exchangeLogin],
])
const UNSURE = 'the daemon may have done it all the same: look first, then repeat it'
/** Faults of a connection that was never made: the daemon heard nothing. */
const NOT_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/
/** What a credential is refused with that is known, but may not do this. */
const LACKS_SCOPE = /^this credential lacks the '/
const SCOPE_ADVICE =
  '"svc whoami" says what it may do; pass one that has the scope with --token or SVC_AUTH_TOKEN ("svc keys create" makes one)'
const TIMEOUT_MS = 60_000
const CANCEL_MS = 3_000

/** What is sent beside the input of a call. */
export interface More {
  /** Bytes sent as they are, with `headers` naming their type. */
  bytes?: Uint8Array
  headers?: Record<string, string>
}

/** An answer, of any status. */
export interface Answer<T = unknown> {
  status: number
  /** The body exactly as it came. */
  text: string
  headers: Headers
  /** What it says when it is one of 2xx. */
  read(): T
}

export class Client {
  /** Status of the answer that was read last; null: none was. */
  private lastRead: number | null = null

  constructor(
    readonly target: Target,
    private readonly io: Pick<Io, 'fetch' | 'interrupted'>,
  ) {}

  /** One call. @throws CliError when it is not answered with 2xx. */
  async call<T, Input>(call: Call<T, Input>, ...given: Given<NoInfer<Input>, More>): Promise<Answer<T>> {
    const answer = await this.attempt(call, ...given)
    if (answer.status >= 200 && answer.status < 300) return answer
    throw this.refusal(answer, call)
  }

  /** What a call answers. @throws CliError when it is not answered with 2xx. */
  async ask<T, Input>(call: Call<T, Input>, ...given: Given<NoInfer<Input>, More>): Promise<T> {
    return (await this.call(call, ...given)).read()
  }

  /** One call whose answer may be any status. @throws CliError when there is no answer. */
  async attempt<T, Input>(call: Call<T, Input>, ...given: Given<NoInfer<Input>, More>): Promise<Answer<T>> {
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.io.interrupted])
    try {
      const { status, headers, text } = await this.send(call, given, signal).then(async (response) => ({
        status: response.status,
        headers: response.headers,
        text: await response.text(),
      }))
      return { status, headers, text, read: () => this.parse<T>(status, text) }
    } catch (error) {
      throw this.unreachable(error, call)
    }
  }

  /** The same, hearing how far it is while it is worked out. No time is set: it is ended by the daemon or the person. */
  async attemptTold<T, Input>(
    call: Call<T, Input>,
    input: Input,
    told: (progress: Progress) => void,
  ): Promise<Answer<T>> {
    try {
      const response = await this.send(call, [input, { headers: IN_LINES }], this.io.interrupted)
      const { status, text } = await readLines(response, told)
      return { status, headers: response.headers, text, read: () => this.parse<T>(status, text) }
    } catch (error) {
      throw this.unreachable(error, call)
    }
  }

  /** Opens a stream of server-sent events. The answer may be any status. */
  async open<Input>(
    call: Call<string, Input>,
    input: Input,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response> {
    try {
      return await this.send(call, [input, { headers: { accept: 'text/event-stream', ...headers } }], signal)
    } catch (error) {
      throw this.unreachable(error, call)
    }
  }

  /** Tells the daemon that what it does is not wanted any more, though the person has ended the command. */
  async cancel<Input>(call: Call<unknown, Input>, input: Input): Promise<void> {
    try {
      await this.send(call, [input], AbortSignal.timeout(CANCEL_MS))
    } catch (error) {
      throw new CliError(
        `interrupted, but the daemon could not be reached: ${(error as Error).message}`,
        EXIT.interrupted,
      )
    }
  }

  /** The version that the daemon says it is, to anybody; null: it does not say. */
  async versionThere(): Promise<string | null> {
    try {
      const response = await this.send(calls.getHealth, [], AbortSignal.timeout(CANCEL_MS))
      const { version: said } = problemOf(await response.text())
      return typeof said === 'string' ? said : null
    } catch {
      // What is told is why the command failed; that the daemon went meanwhile is not it.
      return null
    }
  }

  private async send<Input>(
    call: Call<unknown, Input>,
    [input, { bytes, headers = {} } = {}]: readonly [input?: Input, more?: More],
    signal: AbortSignal,
  ): Promise<Response> {
    const { method, path, body, type } = requestOf(call as Call<unknown, object>, input as object)
    const response = await this.io.fetch(this.target.url + path, {
      method,
      headers: { ...this.headers(), ...(type === undefined ? {} : { 'content-type': type }), ...headers },
      body: (bytes ?? body) as string | Uint8Array<ArrayBuffer> | undefined,
      // A redirect would carry the token to another address.
      redirect: 'manual',
      signal,
    })
    // The login page of a proxy, such as: a command that writes what it is answered would keep it as a file.
    if (response.ok && response.headers.get('content-type')?.startsWith('text/html'))
      throw this.notOurs(response.status)
    return response
  }

  /** @throws CliError where the body is no JSON */
  private parse<T>(status: number, text: string): T {
    try {
      const answer = JSON.parse(text) as T
      this.lastRead = status
      return answer
    } catch {
      throw this.notOurs(status)
    }
  }

  /**
   * What it means that a command could not go by what it was answered, where nothing at the address says that it is svc;
   * null: it is svc, or no answer was read.
   */
  async strangeAnswer(): Promise<CliError | null> {
    if (this.lastRead === null || (await this.versionThere()) !== null) return null
    return this.notOurs(this.lastRead)
  }

  private notOurs(status: number): CliError {
    return new CliError(`${NOT_OURS} (HTTP ${status} from ${this.target.url})`, EXIT.failed, { status })
  }

  /** What a refusal means, and what to do about it. @param call what was asked, where it may have been done */
  refusal(answer: { status: number; text: string }, call?: Call<unknown, never>): CliError {
    const { status } = answer
    if (status >= 300 && status < 400)
      return new CliError(
        `${this.target.url} answers with a redirect (HTTP ${status}); name the daemon's own address with --svcd`,
        EXIT.unavailable,
        { status },
      )
    const said = detailOf(answer.text)
    const elsewhere = status === 404 && said !== null ? this.elsewhereAdvice(said) : null
    if (elsewhere !== null) return new CliError(elsewhere, EXIT.failed, { ...problemOf(answer.text), status })
    const detail = said ?? PAGES[status] ?? NOT_OURS
    // A proxy that gave up has sent on what was asked.
    const isUnsure = said === null && status === 504 && call !== undefined && mayChange(call)
    const advices = [
      ...(status === 401 ? [this.credentialAdvice()] : []),
      ...(status === 403 && said !== null && LACKS_SCOPE.test(said) ? [SCOPE_ADVICE] : []),
      ...(isUnsure ? [UNSURE] : []),
    ]
    const conflicts = conflictsOf(answer.text).flatMap((conflict) => conflictLines(conflict))
    return new CliError(
      [
        `${escapeLine(detail)} (HTTP ${status} from ${this.target.url})${advices.map((advice) => `; ${advice}`).join('')}`,
        ...conflicts,
      ].join('\n'),
      said === null && PAGE_OF_PROXY.has(status) ? EXIT.unavailable : exitCodeOf(status),
      { ...problemOf(answer.text), status },
    )
  }

  /** What to do where the daemon asks for a credential: none was sent, or one that it does not know. */
  credentialAdvice(): string {
    return this.target.token === null
      ? 'pass --token, or set SVC_AUTH_TOKEN'
      : 'the token that was sent is not known there: pass another with --token, or set SVC_AUTH_TOKEN'
  }

  /** That svc is not below the path of its address, where its answer names that path; null: it is not so. */
  private elsewhereAdvice(said: string): string | null {
    const { origin, pathname } = new URL(this.target.url)
    if (pathname === '/' || !said.includes(` ${pathname.replace(/\/$/, '')}/`)) return null
    return `nothing of svc is below ${escapeLine(pathname)} of ${this.target.url} (HTTP 404): name it as ${origin}, with --svcd or SVCD_URL`
  }

  private unreachable(error: unknown, call: Call<unknown, never>): CliError {
    if (error instanceof CliError) return error
    const unsure = mayChange(call) ? `; ${UNSURE}` : ''
    if (this.io.interrupted.aborted) return new CliError(`interrupted${unsure}`, EXIT.interrupted)
    const { name, cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
    if (name === 'TimeoutError')
      return new CliError(
        `${this.target.url} did not answer within ${TIMEOUT_MS / 1000} seconds; see its log${unsure}`,
        EXIT.unavailable,
      )
    const certificate = CERTIFICATE_FAULTS[cause?.code ?? '']
    if (certificate !== undefined)
      return new CliError(
        `the certificate of ${this.target.url} ${certificate} (${cause?.code})`,
        EXIT.unavailable,
      )
    if (cause?.code === 'ERR_SSL_WRONG_VERSION_NUMBER')
      return new CliError(
        `${this.target.url} does not answer by https (${cause.code}); name the daemon by http, or its proxy that has a certificate`,
        EXIT.unavailable,
      )
    if (unsure && cause?.code !== undefined && !NOT_SENT.test(cause.code))
      return new CliError(
        `the connection to ${this.target.url} was cut off before it answered (${cause.code})${unsure}`,
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

const mayChange = (call: Call<unknown, never>): boolean =>
  !call.startsWith('GET ') && !CHANGES_NOTHING.has(call)

/** Statuses by which a proxy says that the daemon is away, and not that it refuses. */
const PAGE_OF_PROXY: ReadonlySet<number> = new Set([502, 503, 504])

const NOT_TRUSTED =
  'is not trusted here; name the file of its authority, or of itself where it signed itself, in NODE_EXTRA_CA_CERTS'
/** What Node says of certificates (node:tls, X509 certificate error codes), and what can be done. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  CERT_UNTRUSTED: NOT_TRUSTED,
  CERT_HAS_EXPIRED: 'has expired; renew it, or set the clock of this machine',
  CERT_NOT_YET_VALID: 'is not valid yet; set the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name; name the daemon by --svcd as its certificate does',
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
