/**
 * A body that holds a list of what happened, such as Grafana's `alerts`: an event for each entry, which keeps the
 * rest of the body as its `envelope`.
 */
import { fail } from '../errors.ts'
import { nestedEntriesAt } from '../ingest/entries.ts'
import { parseDigits, parseForWriting } from '../ingest/json-digits.ts'
import { isDeeper } from '../ingest/json-scan.ts'
import type { Item } from './connector.ts'
import { contextOf } from './http-poll/mapping.ts'

/** The field of an entry that its envelope is. */
const ENVELOPE = 'envelope'

const ENTRIES_MAX = 10_000
/** What the envelopes stored beside entries may be in all, in times of the body's size. */
const COPIES_MAX = 4
/** What stored payloads may be. */
const PAYLOAD_BYTES_MAX = 1_048_576
const PAYLOAD_DEPTH_MAX = 100

/**
 * @param path where the list lies; an object there counts as a list of one.
 * @returns the entries; one with the envelope of its own where nothing lies at the path.
 * @throws SvcError too_large: more than 10,000 entries
 */
export function itemsAt(path: string): (item: Item) => { item: Item; isEntry: boolean }[] {
  return (item) => {
    const { buffer, byteOffset, byteLength } = item.raw
    const found = nestedEntriesAt(Buffer.from(buffer, byteOffset, byteLength), path, ENTRIES_MAX)
    if (!found) return [{ item: itself(item), isEntry: false }]
    const { texts, count, around } = found
    if (count > ENTRIES_MAX)
      fail('too_large', `${path} holds ${count} entries; at most ${ENTRIES_MAX} are taken from one item`)
    const kept = texts.length * around.length <= COPIES_MAX * byteLength ? texts.length : 1
    return texts.map((text, n) => ({
      item: {
        raw: payloadOf(text, n < kept ? around : null),
        value: { ...contextOf(parseDigits(text)), [ENVELOPE]: item.value },
        whole: () => parseForWriting(text),
      },
      isEntry: true,
    }))
  }
}

/** What has no list, or is an entry that was stored, is told of itself. */
function itself(item: Item): Item {
  const own = contextOf(item.value)
  return {
    raw: item.raw,
    value: Object.hasOwn(own, ENVELOPE) ? own : { ...own, [ENVELOPE]: item.value },
    whole: () => item.whole(),
  }
}

/** The entry as it came, and the envelope behind its own fields. */
function payloadOf(text: string, envelope: string | null): Uint8Array {
  const alone = Buffer.from(text)
  if (envelope === null) return alone
  const own = !text.startsWith('{') ? `{"value":${text}` : text.slice(0, -1)
  const both = Buffer.from(`${own}${/^\{\s*$/.test(own) ? '' : ','}"${ENVELOPE}":${envelope}}`)
  const isStorable = both.length <= PAYLOAD_BYTES_MAX && !isDeeper(both, [0, both.length], PAYLOAD_DEPTH_MAX)
  return isStorable ? both : alone
}
