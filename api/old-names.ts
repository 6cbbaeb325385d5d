/**
 * Names of variables from before 1.0 and what became of them (SPEC.md, Startup guards; Versioning 2 and 5):
 * every NAVFLOW_* variable is SVC_*, a few have another name today, and three are gone.
 */
import { environment } from './environment.ts'

/** Names that changed by more than their prefix. */
const RENAMED: Readonly<Record<string, string>> = {
  NAVFLOW_SEED_USECASE: 'SVC_SEED_PROJECT',
  NAVFLOW_PROVIDERA_BASE: 'PROVIDERA_BASE_URL',
  NAVFLOWD_URL: 'SVCD_URL',
}

interface Gone {
  /** Of a name without its prefix; 0.x spelt some of them in more than one way. */
  pattern: RegExp
  what: string
  instead: string
  /** It kept others out: an instance that starts open without it shows what it protected. */
  isProtection: boolean
}

/** The three variables that are gone rather than renamed. */
const GONE: readonly Gone[] = [
  {
    pattern: /^INGEST_(AUTH_)?(TOKEN|KEY)$/,
    what: 'the ingest token',
    instead:
      'set SVC_AUTH_TOKEN (or start with --auth), make an API key with the scope ingest for each producer, and remove this variable',
    isProtection: true,
  },
  {
    pattern: /^READ_?ONLY(_MODE)?$/,
    what: 'the read-only mode',
    instead:
      'set SVC_AUTH_TOKEN (or start with --auth), give out API keys with the scope read, and remove this variable',
    isProtection: true,
  },
  {
    pattern: /^((MODEL|LLM|PROVIDER|AGENT|ASK)_)?(API_)?KEY$/,
    what: 'the key of the model provider',
    instead:
      'set PROVIDERA_API_KEY or PROVIDERB_API_KEY, or add the provider under Settings, Model providers; then remove this variable',
    isProtection: false,
  },
]

const OLD_PREFIX = /^NAVFLOWD?_/

export const isOldName = (name: string): boolean => OLD_PREFIX.test(name)

const goneOf = (bare: string): Gone | undefined => GONE.find(({ pattern }) => pattern.test(bare))
const isKnown = (name: string): boolean => environment.some((variable) => variable.name === name)

/** @param name with the old prefix. @returns what to do about it, in a line, without its value */
export function adviceOn(name: string): string {
  const bare = name.replace(OLD_PREFIX, '')
  const renamed = RENAMED[name] ?? `SVC_${bare}`
  if (isKnown(renamed)) return `${name} -> ${renamed}`
  const gone = goneOf(bare)
  if (gone) return `${name} is gone, not renamed (${gone.what}): ${gone.instead}`
  return `${name}: svc has no ${renamed}; remove it (docs/configuration.md lists every variable)`
}

/** @param name with the prefix SVC_: what renaming a gone variable makes. @returns null when it is none */
export function goneRenamed(name: string): { advice: string; isProtection: boolean } | null {
  if (!name.startsWith('SVC_') || isKnown(name)) return null
  const gone = goneOf(name.slice('SVC_'.length))
  if (!gone) return null
  return {
    advice: `${name} is read by nothing: ${gone.what} is gone since 0.2.0. Instead, ${gone.instead}`,
    isProtection: gone.isProtection,
  }
}
