/**
 * The root token of secured mode: given, or kept in the data home in the file root_token (mode
 * 0600), where a later `--auth` without a token finds it again (SPEC.md, Authentication).
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AuthChoice } from '../../config.ts'
import { ConfigError, parseToken } from '../../config-values.ts'

/**
 * @param home data home; it exists.
 * @returns the token, or null in open mode.
 * @throws ConfigError when the kept file does not hold a token.
 */
export function resolveRootToken(auth: AuthChoice, home: string): string | null {
  if (auth.mode === 'open') return null
  if (auth.mode === 'given') return auth.token
  const file = join(home, 'root_token')
  return readKept(file) ?? make(file)
}

function readKept(file: string): string | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new ConfigError(`cannot read the root token in ${file}: ${(error as Error).message}`)
  }
  chmodSync(file, 0o600)
  if (text === '') throw new ConfigError(`${file} is empty; remove it to have a new root token made`)
  return parseToken(text, file)
}

function make(file: string): string {
  const token = `svc_root_${randomBytes(24).toString('base64url')}`
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeSync(descriptor, `${token}\n`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  return token
}
