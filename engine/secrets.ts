/**
 * Secrets at rest: AES-256-GCM with a key file beside the data file, so that a copy of the data
 * file alone gives none away. Each is bound to its place (table/row/column): a ciphertext moved to
 * another row does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fail, StartError } from './errors.ts'

const PREFIX = 'enc:v1:'

export interface Secrets {
  /** @param aad where the secret lives, such as sources/7/signature_secret. */
  seal(plain: string, aad: string): string
  /** @throws SvcError invalid when it cannot be read with this key file. */
  open(sealed: string, aad: string): string
}

/** Reads the key file, making it on first use. @throws StartError 78 when it is not a key. */
export function openSecrets(keyFile: string): Secrets {
  return withKey(readKey(keyFile))
}

/** A key that lives with the process, for stores in memory. */
export function memorySecrets(): Secrets {
  return withKey(randomBytes(32))
}

function readKey(keyFile: string): Buffer {
  try {
    // Exclusive: of two first starts only one makes the key.
    const made = randomBytes(32)
    writeFileSync(keyFile, made.toString('base64'), { mode: 0o600, flag: 'wx' })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new StartError(`cannot write ${keyFile}: ${(error as Error).message}`, 78)
  }
  const key = Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'base64')
  if (key.length !== 32)
    throw new StartError(
      `${keyFile} does not hold a key; put the right file back, or move it away and enter the secrets again`,
      78,
    )
  return key
}

function withKey(key: Buffer): Secrets {
  return {
    seal: (plain, aad) => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(aad))
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return PREFIX + sealed.toString('base64url')
    },
    open: (sealed, aad) => {
      try {
        const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
          .setAAD(Buffer.from(aad))
          .setAuthTag(bytes.subarray(-16))
        return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')
      } catch {
        // Any failure here means the same: another key, another place, or damage.
        return fail('invalid', `the secret at ${aad} cannot be read here; enter it again`)
      }
    },
  }
}
