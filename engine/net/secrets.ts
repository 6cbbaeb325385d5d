/**
 * Secrets at rest: AES-256-GCM with a key file beside the data file, so that a copy of the data
 * file alone gives none away. Each is bound to its place (table/row/column): a ciphertext moved to
 * another row does not open.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fail, StartError } from '../errors.ts'

const PREFIX = 'enc:v1:'
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface Secrets {
  /**
   * @param aad where the secret lives, such as sources/7/signature_secret; it opens nowhere else.
   * @returns enc:v1: and base64url of nonce (12 bytes), ciphertext and tag (16 bytes).
   */
  seal(plain: string, aad: string): string
  /** @throws SvcError invalid when it cannot be read with this key file. */
  open(sealed: string, aad: string): string
  /** HMAC-SHA256 of a text with the key, in hex: says whether two secrets are equal, and nothing else. */
  fingerprint(text: string): string
}

/** Whether a stored value is a sealed secret. */
export function isSealed(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(PREFIX)
}

/** Reads the key file, making it (mode 0600) on first use. @throws StartError 78 when it is not a key. */
export function openSecrets(keyFile: string): Secrets {
  return withKey(readKey(keyFile))
}

/** A key that lives with the process, for stores in memory. */
export function memorySecrets(): Secrets {
  return withKey(randomBytes(32))
}

function readKey(keyFile: string): Buffer {
  if (!existsSync(keyFile)) makeKey(keyFile)
  const key = Buffer.from(readText(keyFile).trim(), 'base64')
  if (key.length !== 32)
    throw new StartError(
      `${keyFile} does not hold a key; put the right file back, or move it away and enter the secrets again`,
      78,
    )
  return key
}

function readText(keyFile: string): string {
  try {
    return readFileSync(keyFile, 'utf8')
  } catch (error) {
    throw new StartError(`cannot read ${keyFile}: ${(error as Error).message}`, 78)
  }
}

/**
 * The key is on disk, whole, before anything is sealed with it: it is written and flushed under
 * another name, then linked into place, which fails where another start was first.
 */
function makeKey(keyFile: string): void {
  const draft = `${keyFile}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(draft, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, keyFile)
    flushFolder(dirname(keyFile))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new StartError(`cannot write ${keyFile}: ${(error as Error).message}`, 78)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** A new name survives power loss once its folder is flushed. */
function flushFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function withKey(key: Buffer): Secrets {
  return {
    seal: (plain, aad) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(aad))
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return PREFIX + sealed.toString('base64url')
    },
    open: (sealed, aad) => {
      try {
        return decrypt(key, sealed, aad)
      } catch {
        // Any failure here means the same: another key, another place, or damage.
        return fail('invalid', `the secret at ${aad} cannot be read here; enter it again`)
      }
    },
    fingerprint: (text) => createHmac('sha256', key).update(`fingerprint:${text}`).digest('hex'),
  }
}

/** @throws Error when the tag does not match. */
function decrypt(key: Buffer, sealed: string, aad: string): string {
  if (!sealed.startsWith(PREFIX)) throw new Error('not a sealed secret')
  const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url')
  // Without the length a shorter tag, which is easier to guess, would be taken too.
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(aad))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}

/** The key file of a data file, beside it. @param dataFile null: of a store in memory, which reads none */
export const keyFileOf = (dataFile: string | null): string => join(dirname(dataFile ?? ''), 'secret.key')

/*
 * Which variables of the environment `${NAME}` may open, in one place for every stored secret. Whoever may
 * declare a part chooses where its secret is sent, so a name decides here whether it may be sent at all:
 * those that begin with SVC_SECRET_, and those the operator lists in SVC_SECRETS. What svc itself is run
 * with, its root token and provider keys among it, is never opened, listed or not.
 */

type Environment = Readonly<Record<string, string | undefined>>

const SECRET_PREFIX = 'SVC_SECRET_'
/** The variable in which an operator lists more names, separated by commas. */
const SECRET_LIST = 'SVC_SECRETS'

/** The variables of svc itself (SPEC.md, Deployment and configuration), by how their names begin. */
const OWN = /^(?:SVC_(?!SECRET_)|SVCD_|PROVIDER)/i
const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/

/** Marks an environment that is that of another process. */
const ELSEWHERE = Symbol('elsewhere')

/**
 * The environment of an instance that is another process, as a command knows it that asks no daemon: which variables are
 * set there is not told by those of the machine the command runs on. What may be opened is, by the operator's list alone.
 */
export const environmentElsewhere = (env: Environment): Environment =>
  Object.assign({ [SECRET_LIST]: env[SECRET_LIST] }, { [ELSEWHERE]: true })

/** Whether what is set where svc runs is not known here. */
export const isElsewhere = (env: Environment): boolean => ELSEWHERE in env

/** A `${NAME}` in a document: the field that names it and where its value is sent. */
export interface VariableUse {
  /** Such as config.credential. */
  field: string
  /** The name without its braces. */
  variable: string
  /**
   * Host its value is sent to; null: it is sent nowhere, such as a signature that is checked here, or is an
   * address itself.
   */
  host: string | null
}

/** The name in `${NAME}`; null: the value refers to no variable. */
export const variableIn = (value: unknown): string | null =>
  (typeof value === 'string' && REFERENCE.exec(value)?.[1]) || null

/** Host of an address; null: it is none. */
export const hostOf = (address: unknown): string | null =>
  typeof address === 'string' && URL.canParse(address) ? new URL(address).host : null

/** An address of any scheme. A value that is `${NAME}` as a whole is none, and is read where its field is a secret. */
const ADDRESS = /^\s*[a-z][a-z0-9+.-]*:\/\//i
/** As it is written, and as a browser or a library encodes it. */
const INSIDE = /\$(?:\{|%7b)([A-Za-z_][A-Za-z0-9_]*)(?:\}|%7d)/i

/** Why an address with a `${NAME}` in its host, path or query cannot be used, and what to do; null: it has none. */
export function addressFault(value: unknown): string | null {
  const name = typeof value === 'string' && ADDRESS.test(value) ? INSIDE.exec(value)?.[1] : undefined
  if (name === undefined) return null
  return `\${${name}} is not read inside an address; write the address out, and give a secret in the field for it`
}

/** The fields of these that hold such an address, each with that sentence. */
export function addressFaults(fields: Readonly<Record<string, unknown>>): { field: string; fault: string }[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const fault = addressFault(value)
    return fault === null ? [] : [{ field, fault }]
  })
}

/** Whether a name is one of svc's own variables, which are never opened. */
export const isOwnVariable = (name: string): boolean => OWN.test(name)

/** Why a variable may not be opened, and what to do; null: it may be. */
export function variableFault(name: string, env: Environment): string | null {
  if (isOwnVariable(name))
    return `the variable ${name} is one of svc's own and is never sent on; keep the secret in a variable of its own, such as ${SECRET_PREFIX}TOKEN`
  if (name.startsWith(SECRET_PREFIX) && name.length > SECRET_PREFIX.length) return null
  if (listed(env).includes(name)) return null
  return `the variable ${name} may not be opened: rename it to ${SECRET_PREFIX}${name}, or list ${name} in ${SECRET_LIST} where svc is started`
}

/** @returns the value of a variable that may be opened, or a sentence why it cannot be had */
export function openVariable(name: string, env: Environment): { value: string } | string {
  const fault = variableFault(name, env)
  if (fault !== null) return fault
  const value = env[name]?.trim()
  return value ? { value } : `the variable ${name} is not set`
}

/** Why a variable of a file comes to nothing where svc runs; null: it does not, or that is not known here. */
export function unopened(name: string, env: Environment): string | null {
  if (isElsewhere(env)) return null
  const opened = openVariable(name, env)
  if (typeof opened !== 'string') return null
  return variableFault(name, env) ?? `${opened} where svc runs`
}

function listed(env: Environment): string[] {
  return (env[SECRET_LIST] ?? '').split(',').map((name) => name.trim())
}
