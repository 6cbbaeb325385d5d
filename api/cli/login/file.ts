/**
 * The saved login: login.json in the data home, for its owner alone (mode 0600). It is written beside
 * and moved over the old one, so that a reader never finds half of it.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, parseHttpUrl, parseToken } from '../../config-values.ts'
import { CliError } from '../exit.ts'

export interface SavedLogin {
  /** Daemon the key is for, without a trailing slash. */
  url: string
  key: string
  /** Id of the key; null in a file that does not have it. */
  keyId: string | null
}

const fileOf = (home: string): string => join(home, 'login.json')

/** @returns null where there is none. @throws CliError for a file that cannot be used. */
export function readLogin(home: string): SavedLogin | null {
  const file = fileOf(home)
  const text = readIfThere(file)
  if (text === null) return null
  try {
    const { url, key, key_id } = JSON.parse(text) as { url?: unknown; key?: unknown; key_id?: unknown }
    return {
      url: parseHttpUrl(String(url), 'url'),
      key: parseToken(String(key), 'key'),
      keyId: typeof key_id === 'string' ? key_id : null,
    }
  } catch (error) {
    const reason = error instanceof ConfigError ? error.message : 'it is not JSON'
    throw new CliError(`the saved login ${file} cannot be used (${reason}); remove it`)
  }
}

/** @param home is there. @returns the path of the file. @throws the system's error where it cannot be written. */
export function saveLogin(home: string, { url, key, keyId }: SavedLogin): string {
  const file = fileOf(home)
  const beside = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const descriptor = openSync(beside, 'wx', 0o600)
    try {
      writeSync(descriptor, `${JSON.stringify({ url, key_id: keyId, key }, null, 2)}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(beside, file)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
  return file
}

export const removeLogin = (home: string): void => rmSync(fileOf(home), { force: true })

/** The text of a file of the data home; null where there is none for this user. */
export function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    // Another user's home, or a file only the daemon's user reads: go on as if there were none.
    if (code === 'EACCES') return null
    throw error
  }
}
