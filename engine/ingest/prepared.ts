/** An event ready to be stored: what mapping and labelling made of an item. */
export interface PreparedEvent {
  eventType: string
  text: string
  /** Event time, epoch milliseconds; null: use the time of ingest. */
  ts: number | null
  /** The time as the item gave it, where it parsed but is too far off to be used. */
  claimed: string | null
  /** What the item gave for a time, where it is in no form that is known. */
  unknownTime?: string
  /** String labels as [name, value]; the primary one first where `hasEntity`. No duplicate names. */
  strings: [string, string][]
  hasEntity: boolean
  /** Number labels; null when there are none. */
  numbers: Record<string, number> | null
  /** Identifies the item within its source for 72 hours; null: never a duplicate. */
  dedupeKey: string | null
  /** Payload to store where it is not exactly the bytes of the item. */
  raw: Uint8Array | null
}
