/** Spans as the exporter of OpenTelemetry sends them (issue 17, Part 2.1): what each request calls, and where it breaks. */
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import { describe, expect, it } from 'vitest'
import { BY, MINUTE, openWorld, T0 } from '../../triggers/trigger-world.ts'

/** One call: who answers it, after how long it begins and how long it takes, ms. */
interface Call {
  service: string
  name: string
  after: number
  ms: number
  failed?: boolean
  /** Message of an exception that was recorded; the status stays unset. */
  handled?: string
  calls?: Call[]
}

const usual = (): Call => ({
  ...{ service: 'checkout', name: 'POST /order', after: 0, ms: 90 },
  calls: [
    { service: 'cart', name: 'price basket', after: 5, ms: 20 },
    {
      ...{ service: 'payments', name: 'charge card', after: 30, ms: 50 },
      calls: [{ service: 'ledger', name: 'book entry', after: 10, ms: 15 }],
    },
  ],
})

/** Every half minute a request over an hour and a half, the last five minutes as `lately` makes them. */
function exported(lately: () => Call): ReadableSpan[] {
  const spans: ReadableSpan[] = []
  const processor = {
    ...{ onStart: () => undefined, onEnd: (span: ReadableSpan) => void spans.push(span) },
    ...{ forceFlush: async () => undefined, shutdown: async () => undefined },
  }
  const tracers = new Map(
    ['checkout', 'cart', 'payments', 'ledger'].map((service) => [
      service,
      new TracerProvider({
        resource: resourceFromAttributes({ 'service.name': service }),
        spanProcessors: [processor],
      }).getTracer('shop'),
    ]),
  )
  const record = (
    { service, name, after, ms, failed, handled, calls = [] }: Call,
    begin: number,
    parent = context.active(),
  ) => {
    const start = begin + after
    const span = tracers.get(service)!.startSpan(name, { kind: 1, startTime: start }, parent)
    span.setAttribute('http.route', `/${service}`)
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR, message: `${service} gave up` })
    if (handled) span.addEvent('exception', { 'exception.message': handled }, start)
    for (const call of calls) record(call, start, trace.setSpan(parent, span))
    span.end(start + ms)
  }
  for (let i = 0; i < 180; i++) {
    const begin = T0 - 90 * MINUTE + i * 30_000
    record(begin >= T0 - 5 * MINUTE ? lately() : usual(), begin)
  }
  return spans
}

async function requestsTold(
  lately: () => Call,
  encoding: 'json' | 'protobuf' = 'protobuf',
): Promise<string[]> {
  const { engine } = await openWorld({})
  const { ingest_key } = await engine.createSource({ name: 'otel', connector: 'otlp', config: {} }, BY, false)
  const serializer = encoding === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer
  await engine.ingest({
    ...{ ingestKey: ingest_key!, bypassCooldown: false, caller: 'test' },
    body: Buffer.from(serializer.serializeRequest(exported(lately))!),
    otlp: { signal: 'traces', encoding },
  })
  const { text } = await engine.inspect({
    ...{ tool: 'changed', window: '15m', baseline: '90m', to: new Date(T0).toISOString() },
  })
  await engine.close()
  const part = text.split('## Requests that took another path\n')[1]?.split('\n## ')[0] ?? ''
  return part.split('\n').filter(Boolean)
}

describe('requests told by spans of the exporter', () => {
  it('that go as they did are not told', async () => {
    expect(await requestsTold(usual)).toEqual([])
  })

  it('are slower where a span itself takes longer, and not where it waits for what it calls', async () => {
    const slow = () => ({
      ...usual(),
      ms: 890,
      calls: [usual().calls![0]!, { ...usual().calls![1]!, ms: 850 }],
    })
    for (const encoding of ['json', 'protobuf'] as const) {
      const lines = await requestsTold(slow, encoding)
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(
        /payments charge card.* SLOWER: whole 50 → 850 .* own 35 .*→ 835 .*service=payments\}$/,
      )
    }
  })

  it('fail first where no call of the span that fails has failed', async () => {
    const lines = await requestsTold(() => ({
      ...{ service: 'checkout', name: 'POST /order', after: 0, ms: 60, failed: true },
      calls: [
        { service: 'cart', name: 'price basket', after: 5, ms: 20 },
        {
          ...{ service: 'payments', name: 'charge card', after: 30, ms: 25, failed: true },
          calls: [{ service: 'ledger', name: 'book entry', after: 10, ms: 5, failed: true }],
        },
      ],
    }))
    const failing = lines.filter((line) => line.includes('FAILING'))
    expect(failing).toEqual([
      expect.stringMatching(
        /ledger book entry FAILING: 10 of 10 requests, usual 0 of 170; breaks first here in 10 of 10: book entry \(5\.0ms\).*ERROR: ledger gave up.* trace=[0-9a-f]{8} \{service=ledger\}$/,
      ),
    ])
  })

  it('do not fail by an exception that was handled, whatever its message says', async () => {
    const handled = 'ERROR: duplicate key value violates unique constraint'
    expect(await requestsTold(() => ({ ...usual(), handled }))).toEqual([])
    const lines = await requestsTold(() => ({ ...usual(), handled, failed: true }))
    expect(lines).toEqual([expect.stringMatching(/checkout POST \/order FAILING: 10 of 10 requests/)])
  })

  it('no longer make a call, or make a new one', async () => {
    const lines = await requestsTold(() => ({
      ...usual(),
      calls: [usual().calls![1]!, { service: 'ledger', name: 'read limits', after: 2, ms: 3 }],
    }))
    expect(lines.join('\n')).toMatch(/checkout POST \/order: call of cart price basket STOPPED: in 0 of 10/)
    expect(
      await requestsTold(() => ({
        ...usual(),
        calls: [...usual().calls!, { service: 'ledger', name: 'read limits', after: 2, ms: 3 }],
      })),
    ).toEqual([expect.stringMatching(/NEW call of ledger read limits: 10 in 10, usual 0 in 170/)])
  })
})
