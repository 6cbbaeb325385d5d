/**
 * From the bytes of an export request to the body the way in splits: a JSON array with an item for each
 * record. It is done where bodies are prepared, beside the writer or by it, and never on the main thread.
 */
import { fail } from '../../errors.ts'
import { parseExact } from './exact-json.ts'
import type { OtlpForm } from './form.ts'
import { requests } from './messages.ts'
import { readMessage } from './protobuf.ts'
import { eachRecord } from './records.ts'

/** Every record repeats what its resource says, so that a small request could become a huge one. */
const ITEMS_BYTES_MAX = 64 * 1024 * 1024
const ITEMS_MAX = 100_000

/** The body of a call as items: as it came, or an export taken apart. @throws SvcError */
export function itemsOf({ body, otlp }: { body: Uint8Array; otlp?: OtlpForm }): Uint8Array {
  return otlp ? exportItems(body, otlp) : body
}

/**
 * @returns the items, in a buffer of their own.
 * @throws SvcError invalid: no export of that signal; too_large: too many records, or too much in all
 */
export function exportItems(body: Uint8Array, { signal, encoding }: OtlpForm): Buffer {
  const request = encoding === 'json' ? parseExact(body) : readMessage(body, requests[signal])
  const texts: string[] = []
  let size = 0
  eachRecord(signal, request, (text) => {
    size += text.length + 1
    if (size > ITEMS_BYTES_MAX) fail('too_large', 'the export is larger than 64 MiB when taken apart')
    if (texts.length >= ITEMS_MAX)
      fail('too_large', `the export has more than ${ITEMS_MAX} records; send fewer at once`)
    texts.push(text)
  })
  const all = `[${texts.join(',')}]`
  const items = Buffer.allocUnsafeSlow(Buffer.byteLength(all))
  items.write(all)
  return items
}
