/**
 * Answers of OTLP: what was stored, with what was rejected, and refusals as google.rpc.Status, in the
 * encoding of the request (OTLP specification 1.x, OTLP/HTTP Response and OTLP/gRPC Response).
 */
import type { ErrorCode, OtlpSignal, SvcError } from '../../engine/index.ts'
import type { IngestResult } from '../../schemas/types.ts'

const REJECTED: Record<OtlpSignal, string> = {
  logs: 'rejectedLogRecords',
  traces: 'rejectedSpans',
  metrics: 'rejectedDataPoints',
}
const REASONS_TOLD = 3

/** Codes of gRPC (https://grpc.io/docs/guides/status-codes). */
const CODES: Record<ErrorCode, number> = {
  invalid: 3,
  unauthenticated: 16,
  bad_signature: 16,
  forbidden: 7,
  not_found: 5,
  method_not_allowed: 12,
  conflict: 9,
  wrong_state: 9,
  in_flight: 10,
  too_large: 8,
  unsupported_media: 12,
  key_reused: 9,
  faulty_plan: 9,
  too_many: 14,
  unavailable: 14,
  unknown_outcome: 14,
  too_slow: 4,
  storage_full: 8,
  upstream: 14,
  upstream_slow: 4,
  internal: 13,
}

/** The gRPC code of an error. */
export const codeOf = (error: SvcError): number => CODES[error.code]

interface Partial {
  rejected: number
  message: string
}

/**
 * What was left out, or is to be known although nothing was: OTLP has a warning as a partial success that
 * rejects nothing. Null: neither.
 */
function partialOf({ rejected = [], rejected_in_all: all, skewed, notice }: IngestResult): Partial | null {
  const reasons = rejected.slice(0, REASONS_TOLD).map(({ index, error }) => `record ${index}: ${error}`)
  const count = all ?? rejected.length
  if (count > reasons.length) reasons.push(`and ${count - reasons.length} more`)
  if (skewed) reasons.push(`the times of ${skewed} records are too far off: they have the time of arrival`)
  if (notice !== undefined) reasons.push(notice)
  return reasons.length === 0 ? null : { rejected: count, message: reasons.join('; ') }
}

/** ExportLogsServiceResponse and its kin as JSON. */
export function jsonAnswer(signal: OtlpSignal, result: IngestResult): Record<string, unknown> {
  const partial = partialOf(result)
  if (!partial) return {}
  // A 64-bit integer is text in JSON of protobuf.
  return { partialSuccess: { [REJECTED[signal]]: String(partial.rejected), errorMessage: partial.message } }
}

/** The same as protobuf; the three have the same fields. */
export function protobufAnswer(result: IngestResult): Buffer {
  const partial = partialOf(result)
  if (!partial) return Buffer.alloc(0)
  const rejected = partial.rejected === 0 ? Buffer.alloc(0) : varintField(1, partial.rejected)
  return bytesField(1, Buffer.concat([rejected, textField(2, partial.message)]))
}

/** google.rpc.Status of a refusal, with a RetryInfo where the caller is to try again. */
export function protobufStatus(error: SvcError): Buffer {
  const { retryAfter } = error.extra
  return Buffer.concat([
    varintField(1, codeOf(error)),
    textField(2, error.message),
    ...(retryAfter === undefined ? [] : [bytesField(3, retryInfo(retryAfter))]),
  ])
}

/** google.protobuf.Any of a google.rpc.RetryInfo. */
function retryInfo(seconds: number): Buffer {
  const info = bytesField(1, varintField(1, seconds))
  return Buffer.concat([textField(1, 'type.googleapis.com/google.rpc.RetryInfo'), bytesField(2, info)])
}

const textField = (field: number, text: string): Buffer => bytesField(field, Buffer.from(text))

const bytesField = (field: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])

const varintField = (field: number, value: number): Buffer =>
  Buffer.concat([varint(field * 8), varint(value)])

/** @param value a whole number below 2^53. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  return Buffer.from([...bytes, rest])
}
