/** Exit codes of the command (sysexits.h), and the error that carries one. */

export const EXIT = {
  ok: 0,
  /** The daemon refused; or something is not as it was expected. */
  failed: 1,
  /** As a diff: a plan has changes, or the instance has drifted. */
  changes: 2,
  /** The command line is wrong (EX_USAGE). */
  usage: 64,
  /** A file, or lines of it, break a rule (EX_DATAERR). */
  data: 65,
  /** A file cannot be read (EX_NOINPUT). */
  input: 66,
  /** The daemon is not reachable, or not ready (EX_UNAVAILABLE). */
  unavailable: 69,
  /** A fault of ours (EX_SOFTWARE). */
  fault: 70,
  /** The disk failed, or a file cannot be written (EX_IOERR). */
  disk: 74,
  /** Another daemon has the data (EX_TEMPFAIL). */
  busy: 75,
  /** The credential is missing, not known, or lacks the scope (EX_NOPERM). */
  credentials: 77,
  /** The configuration or the data file cannot be used (EX_CONFIG). */
  configuration: 78,
  /** Ended by the person (128 and SIGINT). */
  interrupted: 130,
} as const

/** What a script may read of an error beside its sentence, such as `problems`. */
export type ErrorFields = Readonly<Record<string, unknown>>

/** Ends the command: `message` goes to standard error, the process exits with `exitCode`. */
export class CliError extends Error {
  readonly exitCode: number
  readonly fields: ErrorFields
  constructor(message: string, exitCode: number = EXIT.failed, fields: ErrorFields = {}) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
    this.fields = fields
  }
}

/** A mistake on the command line that the option parser cannot see. */
export function usageError(message: string): CliError {
  return new CliError(message, EXIT.usage)
}
