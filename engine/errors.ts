/**
 * The error table: code → HTTP status and who can fix it. Thrown by the engine, presented by the
 * doors (HTTP status and `{"detail"}`, MCP `isError`, CLI exit code). The message is a plain
 * sentence that names the field and the rule (SPEC.md, Errors). docs/errors.md is checked against
 * this table.
 */
import type { CatalogProblem, ChangePlan, Incident, MergeConflict } from '../schemas/types.ts'

export const errorTable = {
  invalid: {
    status: 400,
    fix: 'caller',
    meaning: 'A value breaks a rule; the message names the field and the rule.',
  },
  unauthenticated: { status: 401, fix: 'caller', meaning: 'No credential, or one that is not known.' },
  bad_signature: {
    status: 401,
    fix: 'caller',
    meaning: 'The webhook signature does not match the raw body.',
  },
  forbidden: {
    status: 403,
    fix: 'caller',
    meaning: 'The credential lacks the scope, or the request comes from a foreign host or origin.',
  },
  not_found: { status: 404, fix: 'caller', meaning: 'Nothing has that name, id or path.' },
  method_not_allowed: { status: 405, fix: 'caller', meaning: 'The path exists, but not with this method.' },
  conflict: { status: 409, fix: 'caller', meaning: 'The name is taken, or the object is in use.' },
  wrong_state: {
    status: 409,
    fix: 'caller',
    meaning: 'The state does not accept the event; the message names the state and what it accepts.',
  },
  in_flight: {
    status: 409,
    fix: 'caller',
    meaning: 'A request with this Idempotency-Key is still being answered.',
  },
  too_large: {
    status: 413,
    fix: 'caller',
    meaning: 'The body, or the number of its items, is over its limit.',
  },
  unsupported_media: { status: 415, fix: 'caller', meaning: 'The content type or encoding is not accepted.' },
  key_reused: { status: 422, fix: 'caller', meaning: 'The Idempotency-Key was used with another body.' },
  faulty_plan: {
    status: 422,
    fix: 'caller',
    meaning: 'The plan of guided setup cannot be applied; the message names each problem and its card.',
  },
  too_many: {
    status: 429,
    fix: 'caller',
    meaning: 'Too many requests at once; try again after Retry-After seconds.',
  },
  upstream: {
    status: 502,
    fix: 'upstream',
    meaning: 'Another system that was asked refused, or cannot be reached; the message says what it said.',
  },
  unavailable: {
    status: 503,
    fix: 'operator',
    meaning: 'The store is not open, or the daemon is starting or stopping.',
  },
  unknown_outcome: {
    status: 503,
    fix: 'operator',
    meaning: 'The disk failed while writing; retry with the same Idempotency-Key.',
  },
  upstream_slow: { status: 504, fix: 'upstream', meaning: 'Another system gave no answer in time.' },
  too_slow: {
    status: 503,
    fix: 'caller',
    meaning: 'A read took longer than it may; narrow it.',
  },
  storage_full: {
    status: 507,
    fix: 'operator',
    meaning: 'Storage is at 95 % of its limit, or the volume is full.',
  },
  internal: {
    status: 500,
    fix: 'us',
    meaning: 'A fault of ours; the message carries an id that is in the log.',
  },
} as const

export type ErrorCode = keyof typeof errorTable

/** What may accompany an error, for programs that act on it. */
export interface ErrorExtra {
  field?: string
  retryAfter?: number
  /** Methods the path takes, for the header Allow. */
  allow?: string
  /** Declared object that breaks the rule: name of a part, id of a project. Not told to clients. */
  about?: { kind: string; name: string }
  rejected?: { index: number; line?: number; error: string }[]
  /** Fields two writers changed, with base, mine and theirs. */
  conflicts?: MergeConflict[]
  /** Problems of a catalog file, with line and column. */
  problems?: CatalogProblem[]
  /** What would be done now, where something else was approved; its fingerprint beside it. */
  plan?: ChangePlan
  fingerprint?: string
  /** The incident as it is now, where another was first. */
  incident?: Incident
  /** The state that refused an event, and what it accepts. */
  state?: string
  accepts?: string[]
}

/** The one error class. `message` is what the caller reads. */
export class SvcError extends Error {
  readonly code: ErrorCode
  readonly extra: ErrorExtra
  constructor(code: ErrorCode, message: string, extra: ErrorExtra = {}) {
    super(message)
    this.name = 'SvcError'
    this.code = code
    this.extra = extra
  }
  get status(): number {
    return errorTable[this.code].status
  }
  /** A plain copy that survives a worker boundary; `SvcError.from` reads it back. */
  toWire(): { code: ErrorCode; message: string; extra: ErrorExtra } {
    return { code: this.code, message: this.message, extra: this.extra }
  }
  static from(wire: { code: ErrorCode; message: string; extra: ErrorExtra }): SvcError {
    return new SvcError(wire.code, wire.message, wire.extra)
  }
}

/** Throws an SvcError; as an expression, for `?? fail(...)`. */
export function fail(code: ErrorCode, message: string, extra?: ErrorExtra): never {
  throw new SvcError(code, message, extra)
}

/**
 * A reason not to start (sysexits codes): 75 another daemon holds the data, 78 the file or the
 * configuration cannot be used. The CLI prints the message and exits with `exitCode`.
 */
export class StartError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number) {
    super(message)
    this.name = 'StartError'
    this.exitCode = exitCode
  }
}
