/** What can keep a request from being answered, as a word for programs and a text for people. */

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
  EMFILE: ['unreachable', 'no file descriptor is left'],
}

/** OpenSSL's names for a certificate that does not hold. */
const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER|ALTNAME|HOSTNAME_MISMATCH/

/** Turns what Node throws into a fault; an error without a known code keeps only its code. */
export function networkFault(error: unknown): EgressFault {
  const code = codeOf(error)
  const known = BY_CODE[code]
  if (known) return faultOf(...known)
  if (CERTIFICATE.test(code)) return faultOf('tls', `certificate is not trusted (${code})`)
  if (/^ERR_(TLS|SSL|OSSL)/.test(code)) return faultOf('tls', `TLS failed (${code})`)
  if (code.startsWith('HPE_')) return faultOf('bad_answer', `answer is not HTTP (${code})`)
  if (/^ERR_(INVALID|HTTP_INVALID|UNESCAPED)/.test(code))
    return faultOf('invalid', 'a header or the path contains characters that HTTP does not allow')
  return faultOf('closed', `connection failed (${code || 'no code'})`)
}

/** Of several addresses that all failed, the first that says why. */
function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] }
  if (typeof code === 'string') return code
  return errors?.length ? codeOf(errors[0]) : ''
}
