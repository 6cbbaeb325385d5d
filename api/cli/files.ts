/** Files named on the command line. */
import { readFileSync, writeFileSync } from 'node:fs'
import { CliError, EXIT } from './exit.ts'

/** @throws CliError 66 when it cannot be read. */
export function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`, EXIT.input)
  }
}

/**
 * A file as text, its byte order mark kept.
 * @throws CliError 66 when it cannot be read, 65 when it is not UTF-8: other bytes would come back as
 * replacement characters, and be written as them.
 */
export function readText(file: string): string {
  const bytes = readBytes(file)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CliError(`${file} is not UTF-8; save it as UTF-8 first`, EXIT.data)
  }
}

/** A file as the prompt of an agent: editors end it with a line break. @throws CliError 65, 66 */
export const readPrompt = (file: string): string =>
  readText(file)
    .replace(/^\ufeff/, '')
    .trimEnd()

/** @throws CliError 74 when it cannot be written. */
export function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new CliError(`cannot write ${file}: ${(error as Error).message}`, EXIT.disk)
  }
}
