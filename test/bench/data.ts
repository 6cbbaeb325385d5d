/** The events of the benchmarks: about 600 bytes, four labels with skewed values, 30 days in order but for 5 %. */
import { random } from '../engine/log/store/store-harness.ts'

export const DAYS_30 = 30 * 86_400_000

export interface Generator {
  /** The n-th event of `total` as a line of JSON. */
  line(n: number, total: number): string
  entity(): string
  rareHost(): string
}

export const SOURCE = {
  name: 'bench',
  connector: 'webhook',
  config: {
    event_type_field: 'level',
    text_template: '{method} {path} {status} in {ms} ms, {note}',
    event_time_field: 'at',
    labels: [
      { name: 'entity', field: 'entity', primary: true },
      { name: 'service', field: 'service' },
      { name: 'host', field: 'host' },
      { name: 'env', field: 'env' },
    ],
  },
}

/** @param end epoch ms of the newest event. */
export function createGenerator(seed: number, end: number): Generator {
  const next = random(seed)
  const entity = zipf(50_000, 0.9, next)
  const service = zipf(200, 1.1, next)
  const host = zipf(5_000, 1, next)
  const notes = Array.from({ length: 64 }, () =>
    Array.from({ length: 9 }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' '),
  )
  const hex = () =>
    Math.floor(next() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0')
  return {
    line: (n, total) => {
      const late = next() < 0.05 ? Math.floor(next() * 10_000) : 0
      const at = new Date(end - DAYS_30 + Math.floor((n / total) * DAYS_30) - late).toISOString()
      const env = next() < 0.7 ? 'prod' : next() < 0.67 ? 'staging' : 'dev'
      return JSON.stringify({
        at,
        level: next() < 0.9 ? 'info' : 'error',
        method: 'GET',
        path: `/api/v1/orders/${hex()}`,
        status: next() < 0.97 ? 200 : 500,
        ms: Math.floor(next() * 400),
        note: notes[n % 64],
        entity: `order-${entity()}`,
        service: `service-${service()}`,
        host: `host-${host()}`,
        env,
        trace_id: hex() + hex() + hex() + hex(),
        span_id: hex() + hex(),
        user: { id: hex(), plan: 'team', region: 'eu-west-1' },
        request: {
          bytes: Math.floor(next() * 9_000),
          agent: 'client/4.2 (linux; x64)',
          ip: `10.${Math.floor(next() * 255)}.${Math.floor(next() * 255)}.7`,
          id: hex() + hex() + hex(),
        },
        build: hex(),
      })
    },
    entity: () => `order-${entity()}`,
    rareHost: () => `host-${500 + Math.floor(next() * 4_000)}`,
  }
}

const WORDS =
  'order payment retry upstream answered queue cache shard replica lease token region deploy canary budget timeout slow warm cold primary'.split(
    ' ',
  )

/** Ranks 0..n-1, the k-th with weight 1/(k+1)^s. */
function zipf(n: number, s: number, next: () => number): () => number {
  const cumulative = new Float64Array(n)
  let sum = 0
  for (let i = 0; i < n; i++) {
    sum += 1 / (i + 1) ** s
    cumulative[i] = sum
  }
  return () => {
    const wanted = next() * sum
    let low = 0
    let high = n - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (cumulative[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** NDJSON bodies of 1,000 events. */
export function makeBodies(generator: Generator, from: number, count: number, total: number): Buffer[] {
  return Array.from({ length: count }, (_, b) =>
    Buffer.from(
      Array.from({ length: 1_000 }, (_, i) => generator.line(from + b * 1_000 + i, total)).join('\n'),
    ),
  )
}
