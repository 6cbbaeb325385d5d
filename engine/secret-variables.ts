/**
 * Which variables of the environment `${NAME}` may open, in one place for every stored secret. Whoever may
 * declare a part chooses where its secret is sent, so a name decides here whether it may be sent at all:
 * those that begin with SVC_SECRET_, and those the operator lists in SVC_SECRETS. What svc itself is run
 * with, its root token and provider keys among it, is never opened, listed or not.
 */

type Environment = Readonly<Record<string, string | undefined>>

export const SECRET_PREFIX = 'SVC_SECRET_'
/** The variable in which an operator lists more names, separated by commas. */
export const SECRET_LIST = 'SVC_SECRETS'

/** The variables of svc itself (SPEC.md, Deployment and configuration), by how their names begin. */
const OWN = /^(?:SVC_(?!SECRET_)|SVCD_|PROVIDER)/i
const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/

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

function listed(env: Environment): string[] {
  return (env[SECRET_LIST] ?? '').split(',').map((name) => name.trim())
}
