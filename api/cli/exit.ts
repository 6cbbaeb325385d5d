/** Exit codes of the command, and the error that carries one. */

export const EXIT = {
  ok: 0,
  /** The daemon refused, or is not reachable; or a start that failed for another reason. */
  failed: 1,
  /** As a diff: a plan has changes. */
  changes: 2,
  /** The command line is wrong (EX_USAGE). */
  usage: 64,
  /** A fault of ours (EX_SOFTWARE). */
  fault: 70,
  /** The disk failed (EX_IOERR). */
  disk: 74,
} as const

/** Ends the command: `message` goes to standard error, the process exits with `exitCode`. */
export class CliError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
  }
}

/** A mistake on the command line that the option parser cannot see. */
export function usageError(message: string): CliError {
  return new CliError(message, EXIT.usage)
}
