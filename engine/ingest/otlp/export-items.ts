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
const ITEMS_MIB_MAX = 128
const ITEMS_BYTES_MAX = ITEMS_MIB_MAX * 1024 * 1024
const ITEMS_MAX = 100_000
const BYTES_FIRST = 64 * 1024
/** Filled so far a buffer is handed on as it is; what is emptier is copied. */
const MOSTLY = 3 / 4

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
  const items = new Items(body.length)
  let count = 0
  eachRecord(signal, request, (text) => {
    if (count >= ITEMS_MAX)
      fail('too_large', `the export has more than ${ITEMS_MAX} records; send fewer at once`)
    items.add(`${count === 0 ? '[' : ','}${text}`)
    count++
  })
  items.add(count === 0 ? '[]' : ']')
  return items.finish()
}

/** Texts written one after another, so that no more than their bytes are held. */
class Items {
  private bytes: Buffer
  private size = 0

  /** @param expected bytes there may be. */
  constructor(expected: number) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(BYTES_FIRST, Math.min(expected * 2, ITEMS_BYTES_MAX)))
  }

  /** @throws SvcError too_large */
  add(text: string): void {
    const wanted = this.size + Buffer.byteLength(text)
    if (wanted > ITEMS_BYTES_MAX)
      fail('too_large', `the export is larger than ${ITEMS_MIB_MAX} MiB when taken apart; send less at once`)
    if (wanted > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(ITEMS_BYTES_MAX, 2 * wanted))
      this.bytes.copy(grown, 0, 0, this.size)
      this.bytes = grown
    }
    this.size += this.bytes.write(text, this.size)
  }

  finish(): Buffer {
    if (this.size > this.bytes.length * MOSTLY) return this.bytes.subarray(0, this.size)
    const whole = Buffer.allocUnsafeSlow(this.size)
    this.bytes.copy(whole, 0, 0, this.size)
    return whole
  }
}
