/**
 * What a connector is. One file per connector beside this one; `index.ts` lists them. A connector
 * turns items into events; it knows nothing of HTTP, SQL or labels. Its config schema is
 * schemas/connectors/<kind>.json.
 */

/** One item of a body or a poll. */
export interface Item {
  /** Its exact bytes. */
  raw: Uint8Array
  /** Its parsed JSON; an object may lack fields that the connector does not look at. */
  value: unknown
  /** Its parsed JSON with all fields. */
  whole(): unknown
}

/** What a connector makes of an item, before labels are read. */
export interface MappedEvent {
  eventType: string
  /** One-line summary; cut by the connector. */
  text: string
  /** Event time as the item gives it: ISO 8601 text, or epoch milliseconds. Absent: now. */
  eventTime?: string | number
  /** What label fields are looked up in: the exact name first, then a dotted path. */
  context: Record<string, unknown>
  /** Labels the connector stamps by itself; declared labels of the same name win. */
  stamped?: Record<string, string | number>
  /** The stamped label that is the entity where the source declares no primary one. */
  entityLabel?: string
  /** Identifies the item among those of its source for 72 hours. */
  dedupeKey?: string
  /** Payload to store where one item makes several events; absent: the item's own bytes. */
  raw?: Uint8Array
}

/** A document of a reference source. */
export interface ReferenceDocument {
  text: string
  raw: Uint8Array
  labels: Record<string, string | number>
}

export interface ConnectorBase {
  kind: string
  label: string
  description: string
  sourceType: string
  /** Made by the service itself, never offered in Add source. */
  internal?: boolean
  /** Fields beyond the payload's own that labels can read. */
  provides: { name: string; help: string; primary?: boolean }[]
  /** $id of the schema of its config. */
  configSchema: string
  /** Rules a JSON Schema cannot say. @returns a sentence per fault. */
  validate?(config: Record<string, unknown>): string[]
  /** Given a partial config, introspects the upstream and proposes a config. */
  discover?(config: Record<string, unknown>): Promise<Record<string, unknown>>
}

export interface PushConnector extends ConnectorBase {
  mode: 'push'
  /** Compiles a validated config (secrets opened) into the function that maps items. */
  compile(
    config: Record<string, unknown>,
  ): (item: Item, headers: Record<string, string> | undefined, index: number) => MappedEvent[]
  /** Every field that mapping looks up, as `lookup` takes them; absent: it looks at all. */
  fields?(config: Record<string, unknown>): string[]
  /** What a test says of a source that waits for producers. */
  note(ingestPath: string): string
}

export interface PollConnector extends ConnectorBase {
  mode: 'poll'
  suggestedPoll: string
  /** Shortest interval accepted, milliseconds. */
  minPollMs?: number
  /** Fetches what is new since `cursor`; the caller stores events and cursor in one transaction. */
  poll(
    config: Record<string, unknown>,
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<{ events: { raw: Uint8Array; event: MappedEvent }[]; cursor: string | null }>
}

export interface ReferenceConnector extends ConnectorBase {
  mode: 'reference'
  documents(config: Record<string, unknown>): ReferenceDocument[]
}

export type ConnectorDefinition = PushConnector | PollConnector | ReferenceConnector
