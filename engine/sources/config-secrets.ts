/**
 * The secrets in a source's config: sealed in its row, open in memory for ingest, a mask wherever
 * they leave the engine. Which fields are secret is said by the connector's schema (x-secret).
 */
import { secretFields } from '../connectors/config.ts'
import { fail, SvcError } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import type { SourceRow } from './queries.ts'

/** What stands for a stored secret on the wire, whatever its length. */
export const MASK = '•'.repeat(8)

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

  /** The config as JSON for the row, each secret bound to the source and its field. */
  seal(sourceId: number, kind: string, config: Config): string {
    const sealed = { ...config }
    for (const name of secretFields(kind))
      if (typeof sealed[name] === 'string')
        sealed[name] = this.secrets.seal(sealed[name], placeOf(sourceId, name))
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
      if (typeof config[name] !== 'string') continue
      try {
        config[name] = this.secrets.open(config[name], placeOf(row.id, name))
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        delete config[name]
        unreadable.push(name)
      }
    }
    return { config, unreadable }
  }

  /**
   * A config given to replace the row's: a secret that is omitted or masked is kept, "" clears it,
   * anything else replaces it.
   * @throws SvcError invalid for a secret to keep that cannot be read.
   */
  keep(row: SealedRow, given: Config): Config {
    const { config: stored, unreadable } = this.open(row)
    const merged = { ...given }
    for (const name of secretFields(row.connector)) {
      if (merged[name] !== undefined && merged[name] !== MASK) continue
      if (unreadable.includes(name))
        fail('invalid', `config.${name} cannot be read here; enter it again, or clear it`, {
          field: 'config',
        })
      if (stored[name] === undefined) delete merged[name]
      else merged[name] = stored[name]
    }
    return merged
  }

  /** The row's config as JSON without its secrets, for a source that is deleted. */
  strip(row: SealedRow): string {
    const config = JSON.parse(row.config) as Config
    for (const name of secretFields(row.connector)) delete config[name]
    return JSON.stringify(config)
  }
}

/** The config as it may leave the engine. */
export function maskSecrets(kind: string, { config, unreadable }: OpenConfig): Config {
  const masked = { ...config }
  for (const name of secretFields(kind))
    if (config[name] !== undefined || unreadable.includes(name)) masked[name] = MASK
  return masked
}

/** A new source has no secret a mask could stand for. @throws SvcError invalid */
export function refuseMask(kind: string, given: Config): void {
  const masked = secretFields(kind).find((name) => given[name] === MASK)
  if (masked !== undefined)
    fail('invalid', `config.${masked} is the mask of a secret; enter the secret itself`, { field: 'config' })
}

function placeOf(sourceId: number, field: string): string {
  return `sources/${sourceId}/${field}`
}
