/**
 * Triggers in the benchmark: what 1,000 of them, of which 5 can match, cost ingest over none, in
 * alternating rounds of one run; and how long it is from the answer to an event until the webhook of
 * its firing arrives.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Daemon } from '../chaos/daemon.ts'
import { createGenerator, makeBodies, SOURCE } from './data.ts'
import { sendAll } from './http.ts'

const TRIGGERS = 1_000
const MATCHING = 5
const ROUNDS = 7
const ROUND_EVENTS = 40_000
const LATENCY_EVENTS = 200

async function ask(daemon: Daemon, path: string, body: object): Promise<{ ingest_key?: string }> {
  const answer = await fetch(daemon.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { ingest_key?: string }
}

/** @param start starts a daemon on a folder of its own. @returns the rate with triggers over that with none */
export async function measureTriggerCost(start: (name: string) => Promise<Daemon>): Promise<number> {
  const [none, many] = [await start('without-triggers'), await start('with-triggers')]
  const urls: string[] = []
  for (const daemon of [none, many]) {
    const { ingest_key } = await ask(daemon, '/api/sources', SOURCE)
    urls.push(`${daemon.url}/ingest/${ingest_key}`)
  }
  // Those that can match count errors of a service; the others wait for one that never comes.
  const yaml = [
    'triggers:',
    ...Array.from({ length: TRIGGERS }, (_, n) => {
      const service = n < MATCHING ? `service-${n}` : `absent-${n}`
      return `  - { name: t${n}, sources: [bench], filters: [{ field: service, op: eq, value: ${service} }], key_field: service, condition: { aggregate: count, predicate: "> 1000000", window: 5m } }`
    }),
  ].join('\n')
  await ask(many, '/api/catalog/import', { yaml })
  const rates: number[][] = [[], []]
  const generator = createGenerator(7, Date.now())
  for (let round = 0; round < ROUNDS; round++) {
    const bodies = makeBodies(generator, round * ROUND_EVENTS, ROUND_EVENTS / 1_000, ROUNDS * ROUND_EVENTS)
    for (const [i, url] of urls.entries()) rates[i]!.push(ROUND_EVENTS / (await sendAll(url, bodies, 4)))
  }
  await none.stop()
  await many.stop()
  // The first rounds warm both up.
  const [plain, withTriggers] = rates.map((all) => median(all.slice(2)))
  return withTriggers! / plain!
}

/** @returns milliseconds from the answer to an event to the arrival of its webhook, ascending */
export async function measureWebhookLatency(daemon: Daemon): Promise<number[]> {
  const arrived = new Map<string, (at: number) => void>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      arrived.get((JSON.parse(text) as { key: string }).key)?.(performance.now())
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { ingest_key } = await ask(daemon, '/api/sources', {
    name: 'latency',
    connector: 'webhook',
    config: { labels: [{ name: 'id', field: 'id', primary: true }] },
  })
  await ask(daemon, '/api/triggers', { name: 'latency', sources: ['latency'], condition: { event: 'any' } })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  await ask(daemon, '/subscribe', { trigger: 'latency', url })
  const times: number[] = []
  for (let n = 0; n < LATENCY_EVENTS; n++) {
    const id = `l${n}`
    const arrival = new Promise<number>((resolve) => arrived.set(id, resolve))
    await ask(daemon, `/ingest/${ingest_key}`, { id })
    const answered = performance.now()
    times.push(Math.max(0, (await arrival) - answered))
  }
  server.close()
  return times.sort((a, b) => a - b)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
