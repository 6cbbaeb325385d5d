/**
 * The secrets in a source's config: sealed in its row, open in memory for ingest, a mask wherever
 * they leave the engine. Which fields are secret is said by the connector's schema (x-secret); of an
 * address, those of its parameters that are.
 */

import { check } from '../../schemas/index.ts'
import type { SourceSpec, SourceWrite } from '../../schemas/types.ts'
import { fail, SvcError } from '../errors.ts'
import {
  type AppCredential,
  type CredentialLookup,
  githubName,
  isApp,
  refuseMoved,
} from '../model/credentials.ts'
import type { Doc } from '../model/documents.ts'
import { MASK } from '../model/plan.ts'
import { parseDuration } from '../model/units.ts'
import {
  isReference,
  keepAddressSecrets,
  maskAddresses,
  openAddresses,
  sealAddresses,
  storedName,
} from '../net/address-secrets.ts'
import { openVariable, type Secrets, variableIn } from '../net/secrets.ts'
import type { ConnectorDefinition } from './connectors/connector.ts'
import {
  addressFields,
  addressOf,
  connectorOf,
  credentialField,
  isRequired,
  secretFields,
  validateConfig,
} from './connectors/index.ts'
import type { SourceRow } from './queries.ts'
import { repoOf } from './upstreams/github-api.ts'

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
function keepSecrets(kind: string, { config: stored, unreadable }: OpenConfig, given: Config): Config {
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

/* Of a catalog file, where a secret that is blank is left out, too, and keeps what is stored. */

/** A config without its blank secrets. @throws SvcError invalid: unknown connector */
export function withoutBlankSecrets(kind: string, config: Config): Config {
  const secrets = secretFields(kind)
  const isBlank = (name: string, value: unknown) => secrets.includes(name) && (value === '' || value === null)
  return Object.fromEntries(Object.entries(config).filter(([name, value]) => !isBlank(name, value)))
}

/** What is stored of the secrets that a config leaves out; a mask for one that cannot be read, which is told where it is kept. */
export function secretsKept(
  kind: string,
  config: Config,
  stored: Config = {},
  unreadable: readonly string[] = [],
): Config {
  const left = secretFields(kind).filter((name) => config[name] === undefined)
  return Object.fromEntries(left.map((name) => [name, unreadable.includes(name) ? MASK : stored[name]]))
}

/** References for the required secrets that a config leaves out: to check it where it is not known what is stored. */
export function secretsAssumed(kind: string, config: Config): Config {
  const missing = secretFields(kind).filter((name) => config[name] === undefined && isRequired(kind, name))
  return Object.fromEntries(missing.map((name) => [name, `\${SVC_SECRET_${name.toUpperCase()}}`]))
}

/** The document without what was assumed for its check. */
export function withoutAssumed<T extends { config?: Config }>(doc: T, assumed: Config): Omit<T, 'config'> {
  const { config = {}, ...rest } = doc
  const kept = Object.entries(config).filter(([name]) => !Object.hasOwn(assumed, name))
  return kept.length ? { ...rest, config: Object.fromEntries(kept) } : rest
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
    if (!isReference(value) || heldBy(kind, value) !== null) continue
    const name = variableIn(value)
    const found = name === null ? `${String(value)} is not stored here` : openVariable(name, env)
    const { [field]: _reference, ...rest } = resolved
    resolved = typeof found === 'string' ? rest : { ...rest, [field]: found.value }
    if (typeof found === 'string') unresolved.push({ field, reason: found })
  }
  return { config: resolved, unresolved }
}

/* A config that names a stored credential, as a poll uses it: with the token of now. */

/**
 * The config with the credential's token and address in it. An address of the source's own stays only
 * where it is of the same host: the token goes nowhere else.
 * @param config secrets opened. @returns a sentence where the credential cannot be used.
 */
export function withCredential(kind: string, config: Config, credentials: CredentialLookup): Config | string {
  const name = credentialOf(kind, config)
  // An app that pushes names one for its list of repositories alone.
  if (name === null || kind === 'github_app') return config
  if (config.token) return 'token and credential exclude each other: keep one of them'
  const found = credentials.find(name)
  if (typeof found === 'string') return found
  const isGithub = kind === 'github'
  const given = isGithub ? config.api_url : config.url
  const own = typeof given === 'string' ? given : found.apiUrl
  if (originOf(own) !== originOf(found.apiUrl))
    return `the credential ${name} is for ${new URL(found.apiUrl).host} and is sent nowhere else; ${isGithub ? 'clear api_url' : 'ask that host'}, or name a credential for its host`
  const placed = isGithub ? { ...config, api_url: own } : config
  if (!isApp(found)) return withToken(kind, placed, found.token)
  const repo = isGithub ? repoOf(String(config.repo ?? '')) : repoIn(own)
  return { ...placed, [APP]: { credential: found, repo } satisfies AppInConfig }
}

/** Field of a config that is polled with an app in place of a token; no schema knows it, and it is in no row. */
const APP = '@app'

interface AppInConfig {
  credential: AppCredential
  /** What it is asked about; null: nothing of one repository. */
  repo: string | null
}

/** Puts the token of an app into a config that is about to be asked with. @param use makes it */
export async function withAppToken(
  kind: string,
  config: Config,
  use: (credential: AppCredential, repo: string | null) => Promise<{ token: string }>,
): Promise<Config> {
  const { [APP]: app, ...rest } = config
  if (app === undefined) return config
  const { credential, repo } = app as AppInConfig
  return withToken(kind, rest, (await use(credential, repo)).token)
}

/** The github connector sends a token as it is sent to GitHub; http_poll sends its header whole. */
const withToken = (kind: string, config: Config, token: string): Config =>
  kind === 'github' ? { ...config, token } : { ...config, credential: `Bearer ${token}` }

/** Of an address of GitHub's API below /repos/owner/name. */
function repoIn(url: string): string | null {
  const [, repo] = /\/repos\/([^/?#]+\/[^/?#]+)/.exec(url) ?? []
  return repo === undefined ? null : repoOf(repo)
}

/** Name of the credential a config reads with; null: it names none. */
export function credentialOf(kind: string, config: Config): string | null {
  const field = credentialField(kind)
  const name = field === undefined ? heldBy(kind, config.credential) : config[field]
  return typeof name === 'string' && name !== '' ? name : null
}

/** The stored credential that the header of an http_poll source refers to; null: none. */
const heldBy = (kind: string, value: unknown): string | null =>
  kind === 'http_poll' ? githubName(storedName(value)) : null

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null)

/* The rules of a declared source, whoever sends it (SPEC.md, Sources and labels). */

/** The body of a source that does not exist yet. @returns its config, normalised. @throws SvcError invalid */
export function checkNew(body: SourceWrite): Record<string, unknown> {
  const fault = check('request-source-write.json', body)
  if (fault) fail('invalid', fault)
  refuseMask(body.connector, body.config ?? {})
  return checkWrite(body)
}

/** A body whose kept secrets are filled in. @returns its config, normalised. @throws SvcError invalid */
export function checkWrite(body: SourceWrite): Record<string, unknown> {
  const fault = check('request-source-write.json', body)
  if (fault) fail('invalid', fault)
  checkPoll(body.connector, body.poll)
  return validateConfig(body.connector, body.config ?? {})
}

/**
 * A source as a document in canonical form.
 * @param stored what it is now: its connector stays, and secrets that are omitted are kept.
 * @throws SvcError invalid, naming the field and the rule.
 */
export function normaliseSource(
  given: SourceSpec,
  stored: (OpenConfig & { connector: string }) | undefined,
): Doc {
  const { connector, poll, paused } = given
  if (stored && stored.connector !== connector)
    fail('invalid', `connector must stay ${stored.connector}: make another source for another connector`, {
      field: 'connector',
    })
  const spec = {
    ...given,
    config: stored ? keepSecrets(connector, stored, given.config ?? {}) : (given.config ?? {}),
  }
  const fault = check('source-spec.json', spec)
  if (fault) fail('invalid', fault)
  if (!stored) refuseMask(connector, spec.config)
  checkPoll(connector, poll)
  const config = validateConfig(connector, spec.config)
  return {
    connector,
    ...(poll && poll !== defaultPoll(connector) ? { poll } : {}),
    ...(Object.keys(config).length ? { config } : {}),
    ...(paused ? { paused: true } : {}),
  }
}

/* How often a source is polled (SPEC.md, Sources and labels: modes). */

/** What a source that is not polled has, for the field is there for every connector. */
const UNUSED = '5s'
/** No connector is polled more often, whatever it allows. */
const SHORTEST_MS = 1_000

/** The interval of a source that names none. @throws SvcError invalid: unknown connector */
export function defaultPoll(kind: string): string {
  const connector = connectorOf(kind)
  return connector.mode === 'poll' ? connector.suggestedPoll : UNUSED
}

/**
 * Checks the interval a source is to have.
 * @throws SvcError invalid for no duration, or one below what the connector allows.
 */
function checkPoll(kind: string, poll: string | undefined): void {
  const connector = connectorOf(kind)
  // Kept for every connector, so it must hold for every connector.
  const ms = parseDuration(poll ?? defaultPoll(kind), 'poll')
  const least = shortest(connector)
  if (connector.mode === 'poll' && ms < least)
    fail('invalid', `poll must be at least ${least / 1_000}s for ${kind}`, { field: 'poll' })
}

/** Milliseconds between polls, never below what the connector allows. */
export function intervalOf(connector: ConnectorDefinition, poll: string): number {
  return Math.max(shortest(connector), parseDuration(poll, 'poll'))
}

function shortest(connector: ConnectorDefinition): number {
  return Math.max(SHORTEST_MS, connector.mode === 'poll' ? (connector.minPollMs ?? 0) : 0)
}
