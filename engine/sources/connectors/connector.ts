/**
 * What a connector is. One file per connector beside this one; `index.ts` lists them. A connector
 * turns items into events; it knows nothing of HTTP, SQL or labels. Its config schema is
 * schemas/connectors/<kind>.json.
 */
import type { Label } from '../../../schemas/types.ts'
import type { Clock, Timers } from '../../clock.ts'
import type { SignatureScheme } from '../../log/ingest/signature.ts'

/** One item of a body or a poll. */
export interface Item {
  /** Its exact bytes. */
  raw: Uint8Array
  /**
   * Its parsed JSON, numbers that would lose digits as text (ingest/json.ts); an object may lack
   * fields that the connector does not look at.
   */
  value: unknown
  /** Its parsed JSON with all fields, to be written as JSON again and not to be looked into. */
  whole(): unknown
  /** Counts and tells a part of it that makes no event, while its other parts do. @param reason the rule it breaks */
  refuse?(reason: string): void
}

/** What a connector makes of an item, before labels are read. */
export interface MappedEvent {
  eventType: string
  /** One-line summary; cut by the connector. */
  text: string
  /**
   * Event time as the item gives it, in any form that `parseEventTime` knows, or as the connector knows it:
   * epoch milliseconds, with what the item gave. Absent: now.
   */
  eventTime?: unknown
  /** When what it tells of was over, in the same forms: it goes before `eventTime` where it is a time that has come. */
  endTime?: unknown
  /** What label fields are looked up in: the exact name first, then a dotted path. */
  context: Record<string, unknown>
  /** Labels the connector stamps by itself; declared labels of the same name win. */
  stamped?: Record<string, string | number>
  /** The stamped label that is the entity where the source declares no primary one. */
  entityLabel?: string
  /** Identifies the item among those of its source for 72 hours. */
  dedupeKey?: string
  /** What would read it better than its source does: a preset or a connector, by its name; on the source's health. */
  reader?: string
  /** Payload to store where one item makes several events; absent: the item's own bytes. */
  raw?: Uint8Array
}

/** A document of a reference source. */
export interface ReferenceDocument {
  text: string
  raw: Uint8Array
  labels: Record<string, string | number>
}

interface ConnectorBase {
  kind: string
  label: string
  description: string
  sourceType: string
  /** Made by the service itself, never offered in Add source. */
  internal?: boolean
  /** Its sources are made by a call of their own, so it is not offered in Add source. */
  onRequest?: boolean
  /** Fields beyond the payload's own that labels can read. */
  provides: { name: string; help: string; primary?: boolean }[]
  /** $id of the schema of its config. */
  configSchema: string
  /** Rules a JSON Schema cannot say. @returns a sentence per fault. */
  validate?(config: Record<string, unknown>): string[]
  /**
   * Given a partial config, introspects the upstream and proposes a config.
   * @param config what is known, secrets opened; required fields may be missing.
   * @returns what the connector found, always with `proposed_config`.
   * @throws UpstreamError
   */
  discover?(config: Record<string, unknown>, reach: Reach): Promise<Record<string, unknown>>
}

/** A connector whose items are mapped to events: those that are pushed and those that polls bring alike. */
export interface MappingConnector extends ConnectorBase {
  /**
   * Compiles a validated config (secrets opened) into the function that maps items. Its `nowMs` is epoch ms: when the item came.
   * @param source name of the source, where there is one.
   */
  compile(
    config: Record<string, unknown>,
    source?: string,
  ): (item: Item, headers: Record<string, string> | undefined, index: number, nowMs?: number) => MappedEvent[]
  /** Every field that mapping looks up, as `lookup` takes them; absent or null: it looks at all. */
  fields?(config: Record<string, unknown>): string[] | null
  /** Whether an item is split into parts: each of them is bounded as an item is, and the item may be longer. */
  splits?(config: Record<string, unknown>): boolean
  /** The mapping said as data, where it is that simple; null: it is not. */
  flat?(config: Record<string, unknown>): FlatMapping | null
}

/** A mapping that only looks at fields at the top of an item. */
export interface FlatMapping {
  /** Event type, where `typeField` is absent or the item's value is no text, number or boolean. */
  type: string
  typeField?: string
  timeField?: string
  /** Literal text and fields, one after another, trimmed; of an item without any text more is read. */
  text: (string | { field: string })[]
  /** Headers that make it another mapping. */
  unlessHeaders: readonly string[]
}

export interface PushConnector extends MappingConnector {
  mode: 'push'
  /** How its producer signs, where a signature_secret is set; absent: the config names a scheme, or none. */
  signatureScheme?: SignatureScheme
  /** How the sender that the config names signs, where a signature_secret is set and no scheme is named. */
  signatureOf?(config: Record<string, unknown>): { scheme: SignatureScheme; header?: string } | undefined
  /** How the sender that the config names asks whether the address is meant for it. */
  handshake?(config: Record<string, unknown>): 'slack' | 'sns' | 'ok' | undefined
  /** Labels that fit what it brings: a form begins with them. */
  labels?: Label[]
  /** Where there is no source of it, the first that is sent makes one, with these labels. */
  makesItself?: boolean
  /** Delivery ids and event names come to it in headers. */
  wantsHeaders?: boolean
  /** What a test says of a source that waits for producers. */
  note(ingestPath: string): string
}

export interface PollConnector extends MappingConnector {
  mode: 'poll'
  /** Poll interval where the source names none, such as 30s. */
  suggestedPoll: string
  /** Shortest interval accepted, milliseconds. */
  minPollMs?: number
  /** Config fields that say what is read. Where one changes, reading begins anew, without a cursor. */
  identity: readonly string[]
  /**
   * Fetches what is new since `cursor`. It keeps nothing: items and cursor are stored in one transaction,
   * and a poll whose outcome was not stored is done again with the same cursor.
   * @param config validated, secrets opened. @param cursor of the poll before; null: the first.
   * @throws UpstreamError
   */
  poll(config: Record<string, unknown>, cursor: string | null, reach: Reach): Promise<Polled>
}

export interface Polled {
  /** One JSON text each, oldest first: the payloads to be stored, exactly. */
  items: readonly string[]
  cursor: string | null
  /** More waits upstream: the next poll is due at once. */
  more?: boolean
  /** What should be known although the poll worked, in a sentence; shown on the source's health. */
  notice?: string
}

/** Share of events that must carry the entity: without it an event is on no timeline and wakes nobody. */
export const ENTITY_SHARE = 0.8

/** Most bytes of an answer that is held. */
export const ANSWER_BYTES = 16 * 1024 * 1024

/** How a connector reaches its upstream. */
export interface Reach {
  /** The one way out over HTTP, with bounds. */
  fetch: typeof fetch
  clock: Clock
  timers: Timers
  /** Aborted when the time of the poll is over or the daemon stops. */
  signal: AbortSignal
  /** The daemon's environment, where an upstream's own tools find it by a variable, such as DOCKER_HOST. */
  env?: Readonly<Record<string, string | undefined>>
}

/** The upstream cannot be reached or refuses: a sentence for the source's health, never with a secret. */
export class UpstreamError extends Error {
  /** @param retryAfterMs how long the upstream asks to be left alone. */
  constructor(
    message: string,
    readonly retryAfterMs: number | null = null,
  ) {
    super(message)
    this.name = 'UpstreamError'
  }
}

export interface ReferenceConnector extends ConnectorBase {
  mode: 'reference'
  documents(config: Record<string, unknown>): ReferenceDocument[]
}

export type ConnectorDefinition = PushConnector | PollConnector | ReferenceConnector

/* Values of payload fields as text, and as objects. */

/** A scalar as text; undefined for what has none, and for empty text. */
export function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** The object, or one without fields where it is none. */
export function objectOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}
