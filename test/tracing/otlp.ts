/**
 * Reads ExportTraceServiceRequest off the wire: field numbers of the public OTLP format, without the
 * code that writes it.
 */

export interface ReceivedSpan {
  traceId: string
  spanId: string
  /** Empty: it is a root. */
  parentSpanId: string
  name: string
  /** 1 internal, 3 client. */
  kind: number
  /** Epoch ms. */
  start: number
  end: number
  attributes: Record<string, unknown>
  events: { name: string; at: number; attributes: Record<string, unknown> }[]
  links: { traceId: string; spanId: string }[]
  /** 0 unset, 1 ok, 2 error. */
  status: { code: number; message: string }
  resource: Record<string, unknown>
  scope: string
}

type Value = bigint | Buffer
/** Values by field number, in order. */
type Message = Map<number, Value[]>

export function readTraces(bytes: Buffer): ReceivedSpan[] {
  return messages(message(bytes), 1).flatMap((resourceSpans) => {
    const resource = attributes(messages(resourceSpans, 1)[0] ?? new Map(), 1)
    return messages(resourceSpans, 2).flatMap((scopeSpans) => {
      const scope = text(messages(scopeSpans, 1)[0] ?? new Map(), 1)
      return messages(scopeSpans, 2).map((span) => ({ ...spanOf(span), resource, scope }))
    })
  })
}

/** An ExportTraceServiceResponse that left spans out. */
export function partialSuccess(rejected: number, error: string): Buffer {
  const inner = Buffer.concat([
    Buffer.from([0x08, rejected, 0x12, Buffer.byteLength(error)]),
    Buffer.from(error),
  ])
  return Buffer.concat([Buffer.from([0x0a, inner.length]), inner])
}

function spanOf(span: Message): Omit<ReceivedSpan, 'resource' | 'scope'> {
  const status = messages(span, 15)[0] ?? new Map()
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: Number(number(span, 6)),
    start: ms(span, 7),
    end: ms(span, 8),
    attributes: attributes(span, 9),
    events: messages(span, 11).map((event) => ({
      name: text(event, 2),
      at: ms(event, 1),
      attributes: attributes(event, 3),
    })),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    status: { message: text(status, 2), code: Number(number(status, 3)) },
  }
}

function attributes(of: Message, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(of, field).map((pair) => [text(pair, 1), anyValue(messages(pair, 2)[0] ?? new Map())]),
  )
}

function anyValue(value: Message): unknown {
  if (value.has(1)) return text(value, 1)
  if (value.has(2)) return number(value, 2) === 1n
  if (value.has(3)) return Number(number(value, 3))
  if (value.has(4)) {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(number(value, 4))
    return bytes.readDoubleLE()
  }
  return messages(messages(value, 5)[0] ?? new Map(), 1).map(anyValue)
}

const number = (of: Message, field: number): bigint => (of.get(field)?.[0] as bigint | undefined) ?? 0n
const bytesOf = (of: Message, field: number): Buffer =>
  (of.get(field)?.[0] as Buffer | undefined) ?? Buffer.alloc(0)
const text = (of: Message, field: number): string => bytesOf(of, field).toString()
const hex = (of: Message, field: number): string => bytesOf(of, field).toString('hex')
/** Nanoseconds overflow a number. */
const ms = (of: Message, field: number): number => Number(number(of, field) / 1_000_000n)
const messages = (of: Message, field: number): Message[] =>
  ((of.get(field) ?? []) as Buffer[]).map((bytes) => message(bytes))

function message(bytes: Buffer): Message {
  const fields: Message = new Map()
  let at = 0
  const varint = (): bigint => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the message ends early')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wire = tag & 7
    let value: Value
    if (wire === 0) value = varint()
    else if (wire === 1) value = take(8).readBigUInt64LE()
    else if (wire === 2) value = take(Number(varint()))
    else if (wire === 5) value = BigInt(take(4).readUInt32LE())
    else throw new Error(`no wire type ${wire}`)
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}
