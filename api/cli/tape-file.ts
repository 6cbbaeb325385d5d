/** Tapes as files: the answers of models to what one test or one scenario asks. */
import { existsSync, readFileSync } from 'node:fs'
import type { TapeFile } from '../../engine/local.ts'
import { CliError, EXIT } from './exit.ts'
import { writeInFolder } from './files.ts'

/** @returns null where there is none. @throws CliError 65 where it is no tape */
export function readTape(file: string): TapeFile | null {
  if (!existsSync(file)) return null
  try {
    const tape = JSON.parse(readFileSync(file, 'utf8')) as TapeFile
    if (tape.version === 1 && Array.isArray(tape.calls)) return tape
  } catch {
    // Said below.
  }
  throw new CliError(`${file} is no tape that --record wrote`, EXIT.data)
}

/** Writes a tape; makes its folder first if it is missing. @throws CliError 74 when the tape cannot be written. */
export const writeTape = (file: string, tape: TapeFile): void =>
  writeInFolder(file, `${JSON.stringify(tape, null, 1)}\n`)
