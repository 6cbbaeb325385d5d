/** Exports that real SDKs sent, as they were recorded: bodies of /v1/logs and /v1/traces. */
import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'

/** Headers the exporter sent with them. */
export const RECORDED_HEADERS = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' }

/** Every recorded time is within a day of this: nanoseconds since 1970. */
const RECORDED = BigInt(Date.parse('2026-11-23T00:00:00Z')) * 1_000_000n
const DAY = 86_400n * 1_000_000_000n

/**
 * A recorded export whose times are moved, so that it has just happened. A time is eight bytes (fixed64,
 * opentelemetry-proto), so that nothing around it changes. @param nowMs where its last time is moved to, epoch ms.
 */
export function recordedExport(folder: string, signal: 'logs' | 'traces', nowMs: number): Buffer {
  const bytes = gunzipSync(readFileSync(new URL(`${folder}/${signal}.pb.gz`, import.meta.url)))
  const places: number[] = []
  let last = 0n
  for (let at = 0; at + 8 <= bytes.length; at++) {
    const value = bytes.readBigUInt64LE(at)
    if (value < RECORDED - DAY || value > RECORDED + DAY) continue
    places.push(at)
    if (value > last) last = value
  }
  const delta = BigInt(nowMs) * 1_000_000n - last
  for (const at of places) bytes.writeBigUInt64LE(bytes.readBigUInt64LE(at) + delta, at)
  return gzipSync(bytes)
}
