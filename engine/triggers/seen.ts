/** Stored rows as triggers see them. */
import { parseDigits } from '../ingest/json-digits.ts'
import { labelIdsOf } from '../store/open-segment.ts'
import type { StoredRow } from '../store/rows.ts'
import type { Seen } from './types.ts'

const decoder = new TextDecoder()

/** @param row with its payload, or `rawOf` to read it with: few triggers look at payloads. */
export function seenOf(row: StoredRow, rawOf?: (id: number) => Uint8Array | undefined): Seen {
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
      if (!payload) {
        const raw = row.raw ?? rawOf?.(row.id)
        payload = { value: raw ? parsed(decoder.decode(raw)) : undefined }
      }
      return payload.value
    },
  }
}

/** Text that is no JSON has no fields. */
export function parsed(text: string): unknown {
  try {
    return parseDigits(text)
  } catch {
    return undefined
  }
}
