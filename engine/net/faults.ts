/** What a request comes to: an answer, or a fault, as a word for programs and a text for people. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { ownField } from '../../schemas/fields-of.ts'

export interface EgressAnswer {
  ok: true
  status: number
  /** Names in lower case; values of a repeated header joined as RFC 9110 says. */
  headers: IncomingHttpHeaders
  /** Empty where none was wanted, or where it comes as a stream. */
  body: Buffer
  /** The body as it comes, where that was asked for: to be read to its end, or destroyed. */
  stream?: Readable
}

/** Where a service of this machine's own environment answers (DOCKER_HOST, a cluster): no caller names it, so it is not checked. */
export interface OwnAddress {
  origin: string
  /** Path of a Unix socket, in place of the host of the origin. */
  socketPath: string | undefined
  tls: { ca: Buffer; cert?: Buffer; key?: Buffer } | undefined
  headers?: Record<string, string>
}

/** The head of an answer, and its body as it comes: to be read to its end, or destroyed. */
export interface HeldAnswer {
  status: number
  headers: IncomingHttpHeaders
  stream: Readable
}

export type FaultCode =
  /** The address may not be reached by who named it. */
  | 'not_allowed'
  /** The URL, a header or the method is none. */
  | 'invalid'
  | 'unresolved'
  | 'refused'
  | 'unreachable'
  | 'closed'
  | 'tls'
  /** What came back is no HTTP, or its head is over its limit. */
  | 'bad_answer'
  | 'too_large'
  | 'redirect'
  | 'timeout'
  /** The caller's signal. */
  | 'aborted'

/** A request without a usable answer. `status` is there if one had come before it went wrong. */
export interface EgressFault {
  ok: false
  fault: FaultCode
  /** A short text without addresses, secrets or anything the other side wrote. */
  message: string
  status: number | null
}

/** What cannot be fetched, with its fault as its cause. */
export class EgressError extends TypeError {
  constructor(readonly fault: EgressFault) {
    super(fault.message, { cause: fault })
    this.name = 'EgressError'
  }
}

/** Makes a fault. @param status HTTP status that had been answered. */
export function faultOf(fault: FaultCode, message: string, status: number | null = null): EgressFault {
  return { ok: false, fault, message, status }
}

const BY_CODE: Readonly<Record<string, readonly [FaultCode, string]>> = {
  ECONNREFUSED: ['refused', 'connection refused'],
  ECONNRESET: ['closed', 'connection closed without an answer'],
  EPIPE: ['closed', 'connection closed without an answer'],
  ECONNABORTED: ['closed', 'connection closed without an answer'],
  ENOTFOUND: ['unresolved', 'host name cannot be resolved'],
  EAI_AGAIN: ['unresolved', 'host name cannot be resolved'],
  EAI_NODATA: ['unresolved', 'host name cannot be resolved'],
  EAI_NONAME: ['unresolved', 'host name cannot be resolved'],
  EHOSTUNREACH: ['unreachable', 'host cannot be reached'],
  EHOSTDOWN: ['unreachable', 'host cannot be reached'],
  ENETUNREACH: ['unreachable', 'host cannot be reached'],
  EADDRNOTAVAIL: ['unreachable', 'host cannot be reached'],
  ETIMEDOUT: ['unreachable', 'host cannot be reached'],
  EPROTO: ['tls', 'TLS failed'],
  UND_ERR_CONNECT_TIMEOUT: ['unreachable', 'host cannot be reached'],
  UND_ERR_SOCKET: ['closed', 'connection closed without an answer'],
  UND_ERR_DESTROYED: ['closed', 'connection closed without an answer'],
  UND_ERR_CLOSED: ['closed', 'connection closed without an answer'],
  UND_ERR_HEADERS_OVERFLOW: ['bad_answer', 'head of the answer is over its limit'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['bad_answer', 'answer is not as long as it says'],
  EMFILE: ['unreachable', 'no file descriptor is left'],
}

/** OpenSSL's names for a certificate that does not hold. */
const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|ALTNAME|HOSTNAME_MISMATCH/

/** Turns what Node and undici throw into a fault; an error without a known code keeps only its code. */
export function networkFault(error: unknown): EgressFault {
  if (error instanceof EgressError) return error.fault
  const code = codeOf(error)
  const { name, message } = error as Error
  // undici says these in no other way.
  if (name === 'HTTPParserError') return faultOf('bad_answer', `answer is not HTTP${code && ` (${code})`}`)
  if (name === 'SocketError' && message === 'bad upgrade')
    return faultOf('bad_answer', 'answer changes the protocol', 101)
  if (name === 'SocketError' && message === 'bad response')
    return faultOf('bad_answer', 'answer goes on with what was not begun', 100)
  const known = ownField(BY_CODE, code)
  if (known) return faultOf(...known)
  if (CERTIFICATE.test(code)) return faultOf('tls', `certificate is not trusted (${code})`)
  if (/^ERR_(TLS|SSL|OSSL)/.test(code)) return faultOf('tls', `TLS failed (${code})`)
  if (/^(ERR_(INVALID|HTTP_INVALID|UNESCAPED)|UND_ERR_INVALID_ARG)/.test(code))
    return faultOf('invalid', 'a header or the path contains characters that HTTP does not allow')
  return faultOf('closed', `connection failed (${code || 'no code'})`)
}

/** The status by which a proxy asks for a login (RFC 9110, 15.5.8). */
const PROXY_LOGIN = 407

/** Before there is a tunnel nobody but the proxy was asked, so that these are faults on the way to it. */
const ON_THE_WAY = new Set<FaultCode>(['refused', 'unresolved', 'unreachable'])

/** As `networkFault`, of what went through a proxy: what the proxy did is told apart from what the other side did. */
export function proxyFault(error: unknown): EgressFault {
  if (error instanceof EgressError) return error.fault
  const { message, code } = error as Error & { code?: string }
  // undici has the status in its text alone: of an answer to CONNECT, and where a login is asked for.
  const refused = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(message)?.[1]
  if (refused !== undefined) return proxyRefusal(Number(refused))
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return faultOf('unreachable', 'the proxy does not answer')
  const fault = networkFault(error)
  return ON_THE_WAY.has(fault.fault)
    ? faultOf(fault.fault, `the proxy cannot be reached (${fault.message})`)
    : fault
}

/** @param status that a proxy answered with in place of connecting */
function proxyRefusal(status: number): EgressFault {
  if (status === PROXY_LOGIN)
    return faultOf('refused', 'the proxy asks for a user name and password that it does not get (407)')
  return status < 500
    ? faultOf('refused', `the proxy refuses to connect to this host (${status})`)
    : faultOf('unreachable', `the proxy cannot connect to this host (${status})`)
}

/** Of several addresses that all failed, the first that says why. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] }
  if (typeof code === 'string') return code
  return errors?.length ? codeOf(errors[0]) : ''
}

/** A promise, or the reason of the signal if that comes first. */
export function bounded<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cut = () => reject(signal.reason)
    if (signal.aborted) cut()
    signal.addEventListener('abort', cut, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', cut))
  })
}
