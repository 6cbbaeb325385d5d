/** What an OTLP export is: which signal, in which encoding. */

export type OtlpSignal = 'logs' | 'traces' | 'metrics'

/** Of a body that is an export request and no list of items. */
export interface OtlpForm {
  signal: OtlpSignal
  encoding: 'json' | 'protobuf'
}

/** JSON as OTLP has it, parsed; 64-bit integers are text. */
export type Fields = Record<string, unknown>

/** Any value as an object; anything else has no fields. */
export const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** The one field of what stands for a record that cannot be taken: why, in words after "record 3". */
export const REFUSED = 'svc.refused'

/** What is wrong with one record, so that its neighbours are kept. The message goes on after its place. */
export class RecordFault extends Error {
  /** The same in a member of that name. */
  in(name: string): RecordFault {
    return new RecordFault(`${name}.${this.message}`)
  }
}

/* Bytes that arrived in parts. */

/** How many there are. */
export function sizeOf(bytes: Uint8Array | readonly Uint8Array[]): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.reduce((sum, part) => sum + part.length, 0)
}

/** All of them, in a buffer of their own where they are not whole already. */
export function joined(
  bytes: Uint8Array | readonly Uint8Array[],
  bufferOf = (size: number): Buffer => Buffer.allocUnsafeSlow(size),
): Buffer {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bufferOf(sizeOf(bytes))
  let at = 0
  for (const part of bytes) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
