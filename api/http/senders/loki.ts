/** What clients push to Loki: its path behind an ingest URL, and bodies of protobuf packed by snappy. */
import type { FastifyRequest } from 'fastify'
import { fail, type IngestPost } from '../../../engine/index.ts'
import type { BodyBudget } from '../body-budget.ts'
import { typeOf } from '../form-body.ts'
import { INFLATED_MAX } from '../whole-body.ts'

/** Clients of Loki put the path of its push API behind the ingest URL they are given. */
export const TO_LOKI = /^(\/ingest\/[^/?]+)\/+loki\/api\/v1\/push(?=\?|$)/

const PROTOBUF = /^application\/(?:x-|vnd\.google\.)?protobuf$/
/** What some clients send as JSON under the type of protobuf: no protobuf packed by snappy begins so. */
const JSON_PUSH = /^\s*\{\s*"streams"/
/** What snappy packs at most. */
const RATIO_MAX = 22
const ANY_JSON = /^\s*[[{]/

/**
 * A body of protobuf, once there is memory for what it unpacks to; null where it is none. It is unpacked where bodies are
 * prepared. @throws SvcError unsupported_media: one that is no push of Loki; too_large; too_many
 */
export async function lokiPushOf(
  request: FastifyRequest,
  parts: readonly Buffer[],
  bodies: BodyBudget,
): Promise<Pick<IngestPost, 'body' | 'isLokiPush'> | null> {
  const coding = request.headers['content-encoding']
  const isSnappy = coding === 'snappy'
  if (!isSnappy && (coding !== undefined || !PROTOBUF.test(typeOf(request)))) return null
  const head = parts[0]?.toString('latin1', 0, 64) ?? '{'
  const isPush = TO_LOKI.test(request.originalUrl)
  if (!isSnappy && (isPush ? JSON_PUSH : ANY_JSON).test(head)) return null
  if (!isPush || !PROTOBUF.test(typeOf(request)))
    fail(
      'unsupported_media',
      isSnappy
        ? 'the body is packed by snappy, which is taken of a push of Loki alone: /ingest/<ingest_key>/loki/api/v1/push'
        : 'the body is protobuf, as its Content-Type says: let its sender send JSON, or push as to Loki to /ingest/<ingest_key>/loki/api/v1/push',
    )
  const wire = parts.reduce((sum, part) => sum + part.length, 0)
  await bodies.hold(
    request.raw,
    wire + Math.min(INFLATED_MAX, RATIO_MAX * wire, sizeSaid(Buffer.from(head, 'latin1'))),
  )
  return { body: parts, isLokiPush: true }
}

/** Bytes that it says it unpacks to, as snappy begins. */
function sizeSaid(head: Buffer): number {
  let size = 0
  for (let at = 0; at < 5; at++) {
    size += ((head[at] ?? 0) & 0x7f) * 2 ** (7 * at)
    if ((head[at] ?? 0) < 0x80) break
  }
  return size
}
