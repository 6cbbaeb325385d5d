/**
 * Page cursors: where the next page starts and which instant all pages speak for, signed so that a
 * changed or foreign one is refused rather than read wrongly.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { fail } from '../errors.ts'
import type { Position } from '../store/scan.ts'

export interface Cursor {
  /** The page starts past this event; null: at the start of the order. */
  after: Position | null
  /** Groups of the current chunk already given, under max_tokens. */
  skip: number
  /** Largest id the pages see. */
  ceiling: number
  /** The instant relative windows end at, epoch ms. */
  now: number
}

/** Signature secret of this data file; cursors survive restarts, not a move to another instance. */
export class CursorCodec {
  constructor(private readonly secret: string) {}

  /** @param query the request without its cursor: pages of another query do not fit. */
  encode(cursor: Cursor, query: unknown): string {
    const { after } = cursor
    const body = [after?.ts ?? '', after?.id ?? '', cursor.skip, cursor.ceiling, cursor.now].join('.')
    return `${Buffer.from(body).toString('base64url')}.${this.sign(body, query)}`
  }

  /** @throws SvcError invalid */
  decode(text: string, query: unknown): Cursor {
    const [encoded = '', signature = ''] = text.split('.')
    const body = Buffer.from(encoded, 'base64url').toString()
    const expected = Buffer.from(this.sign(body, query))
    const given = Buffer.from(signature)
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      fail('invalid', 'cursor is not one this query gave; start again without it', { field: 'cursor' })
    const parts = body.split('.')
    const after = parts[0] === '' ? null : { ts: Number(parts[0]), id: Number(parts[1]) }
    return { after, skip: Number(parts[2]), ceiling: Number(parts[3]), now: Number(parts[4]) }
  }

  private sign(body: string, query: unknown): string {
    const hash = createHash('sha256').update(canonical(query)).digest('hex')
    return createHmac('sha256', this.secret).update(`${hash}.${body}`).digest('base64url').slice(0, 22)
  }
}

/** JSON with sorted keys, so that the order in which a client writes fields does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  )
}
