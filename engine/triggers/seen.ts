/** Stored rows as triggers see them. */
import { labelIdsOf } from '../store/open-segment.ts'
import type { StoredRow } from '../store/rows.ts'
import type { Seen } from './types.ts'

const decoder = new TextDecoder()

/** @param row with its payload (`raw`). */
export function seenOf(row: StoredRow): Seen {
  let numbers: Record<string, number> | undefined
  let payload: { value: unknown } | undefined
  return {
    id: row.id,
    sourceId: row.source_id,
    ts: row.ts,
    ingestedAt: row.ingested_at,
    labels: labelIdsOf(row.labels),
    hasEntity: row.entity !== null,
    bypass: false,
    numbers: () => {
      numbers ??= row.numbers ? (JSON.parse(row.numbers) as Record<string, number>) : {}
      return numbers
    },
    text: () => row.text,
    payload: () => {
      payload ??= { value: row.raw ? parsed(decoder.decode(row.raw)) : undefined }
      return payload.value
    },
  }
}

/** Text that is no JSON has no fields. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
