/**
 * The secrets in a source's config: sealed in its row, open in memory for ingest, a mask wherever
 * they leave the engine. Which fields are secret is said by the connector's schema (x-secret); of an
 * address, those of its parameters that are.
 */

import { keepAddressSecrets, maskAddresses, openAddresses, sealAddresses } from '../address-secrets.ts'
import { MASK } from '../changes/plan.ts'
import { addressFields, addressOf, secretFields } from '../connectors/config.ts'
import { fail, SvcError } from '../errors.ts'
import { refuseMoved } from '../moved-secret.ts'
import { isReference } from '../parts/secret-fields.ts'
import { openVariable, variableIn } from '../secret-variables.ts'
import type { Secrets } from '../secrets.ts'
import type { SourceRow } from './queries.ts'

type Config = Record<string, unknown>
type SealedRow = Pick<SourceRow, 'id' | 'connector' | 'config'>

export interface OpenConfig {
  /** Secrets in the clear; those that cannot be read are left out. */
  config: Config
  /** Fields whose secret is stored but was sealed with another key file. */
  unreadable: string[]
}

export class ConfigSecrets {
  constructor(private readonly secrets: Secrets) {}

  /**
   * The config as JSON for the row, each secret bound to the source and its field.
   * @param before the row's config until now: a secret that did not change keeps its sealed form.
   */
  seal(sourceId: number, kind: string, config: Config, before = '{}'): string {
    const was = JSON.parse(before) as Config
    const open = this.open({ id: sourceId, connector: kind, config: before }).config
    const sealed = { ...config }
    for (const name of secretFields(kind)) {
      const value = sealed[name]
      if (typeof value !== 'string' || isReference(value)) continue
      sealed[name] = open[name] === value ? was[name] : this.secrets.seal(value, placeOf(sourceId, name))
    }
    for (const name of addressFields(kind)) {
      const known = { open: open[name], sealed: was[name] }
      sealed[name] = sealAddresses(config[name], placeOf(sourceId, name), this.secrets, known)
    }
    return JSON.stringify(sealed)
  }

  /**
   * Without its key file a secret is gone; its source then refuses everything and says so, while
   * the others go on. So this does not throw.
   */
  open(row: SealedRow): OpenConfig {
    const config = JSON.parse(row.config) as Config
    const unreadable: string[] = []
    for (const name of secretFields(row.connector)) {
      if (typeof config[name] !== 'string' || isReference(config[name])) continue
      try {
        config[name] = this.secrets.open(config[name], placeOf(row.id, name))
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        delete config[name]
        unreadable.push(name)
      }
    }
    for (const name of addressFields(row.connector)) {
      if (config[name] === undefined) continue
      const found = openAddresses(config[name], placeOf(row.id, name), this.secrets)
      config[name] = found.open
      if (found.unreadable) unreadable.push(name)
    }
    return { config, unreadable }
  }

  /** As keepSecrets, with what a row holds. */
  keep(row: SealedRow, given: Config): Config {
    return keepSecrets(row.connector, this.open(row), given)
  }

  /** The row's config as JSON without its secrets, for a source that is deleted. */
  strip(row: SealedRow): string {
    const config = JSON.parse(row.config) as Config
    for (const name of secretFields(row.connector)) delete config[name]
    return JSON.stringify(withMaskedAddresses(row.connector, config))
  }
}

/**
 * A config given to replace the stored one: a secret that is omitted or masked is kept, "" clears
 * it, anything else replaces it. A secret is not kept for another address.
 * @throws SvcError invalid for a secret to keep that cannot be read, or whose address changed.
 */
export function keepSecrets(kind: string, { config: stored, unreadable }: OpenConfig, given: Config): Config {
  const merged = { ...given }
  for (const name of secretFields(kind)) {
    if (merged[name] !== undefined && merged[name] !== MASK) continue
    if (unreadable.includes(name))
      fail('invalid', `config.${name} cannot be read here; enter it again, or clear it`, { field: 'config' })
    if (stored[name] === undefined) delete merged[name]
    else {
      refuseMoved(`config.${name}`, addressOf(kind, stored), addressOf(kind, given), {
        field: `config.${name}`,
      })
      merged[name] = stored[name]
    }
  }
  for (const name of addressFields(kind))
    if (merged[name] !== undefined)
      merged[name] = keepAddressSecrets(merged[name], stored[name], `config.${name}`)
  return merged
}

/** The config as it may leave the engine. */
export function maskSecrets(kind: string, { config, unreadable }: OpenConfig): Config {
  const masked = { ...config }
  for (const name of secretFields(kind))
    if ((config[name] !== undefined && !isReference(config[name])) || unreadable.includes(name))
      masked[name] = MASK
  return withMaskedAddresses(kind, masked)
}

/** A config with what is secret in its addresses as masks. */
export function withMaskedAddresses(kind: string, config: Config): Config {
  const masked = { ...config }
  for (const name of addressFields(kind))
    if (masked[name] !== undefined) masked[name] = maskAddresses(masked[name])
  return masked
}

/** A new source has no secret a mask could stand for. @throws SvcError invalid */
export function refuseMask(kind: string, given: Config): void {
  const masked = secretFields(kind).find((name) => given[name] === MASK)
  if (masked !== undefined)
    fail('invalid', `config.${masked} is the mask of a secret; enter the secret itself`, { field: 'config' })
  for (const name of addressFields(kind)) keepAddressSecrets(given[name], undefined, `config.${name}`)
}

function placeOf(sourceId: number, field: string): string {
  return `sources/${sourceId}/${field}`
}

/** The fields of a config that may hold addresses: all but the templates of texts. */
export function addressesIn(config: Config): Config {
  return Object.fromEntries(Object.entries(config).filter(([field]) => !field.endsWith('template')))
}

export interface Resolved {
  config: Config
  unresolved: { field: string; reason: string }[]
}

/**
 * The config as a source runs with: `${NAME}` in a secret field is what the environment says. A
 * reference to what is not there is left out, with the reason.
 */
export function resolveReferences(
  kind: string,
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Resolved {
  const unresolved: Resolved['unresolved'] = []
  let resolved = config
  for (const field of secretFields(kind)) {
    const value = config[field]
    if (!isReference(value)) continue
    const name = variableIn(value)
    const found = name === null ? `${String(value)} is not stored here` : openVariable(name, env)
    const { [field]: _reference, ...rest } = resolved
    resolved = typeof found === 'string' ? rest : { ...rest, [field]: found.value }
    if (typeof found === 'string') unresolved.push({ field, reason: found })
  }
  return { config: resolved, unresolved }
}
