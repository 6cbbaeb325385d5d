/** The tools that look, for runs, Ask, MCP and HTTP alike (issue 17, Part 2.3). */
import { describe, expect, it } from 'vitest'
import { inspectInSteps } from '../../../../engine/agents/inspect.ts'
import { changePoints } from '../../../../engine/agents/inspect-series.ts'
import { cautiousTokens } from '../../../../engine/log/brief/brief.ts'
import { advance } from '../../../../engine/log/lifecycle.ts'
import { atOnce } from '../../../../engine/log/steps.ts'
import type { InspectQuestion } from '../../../../engine/log/timeline/inspect-pages.ts'
import { addSource, event, openHarness, T0 } from '../../log/store/store-harness.ts'

const MINUTE = 60_000
const NOW = T0 + 180 * MINUTE
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SECRET = 'password=hunter2hunter2'

/** Three hours of a shop: a deploy, an error from then on, a number that moved, one request over two services. */
function shop() {
  const harness = openHarness()
  const { store, ctx } = harness
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const [logs, deploys, hidden] = ['logs', 'deploys', 'hidden'].map((name) => addSource(store, name, labels))
  const at = (minute: number) => T0 + minute * MINUTE
  harness.append(
    Array.from({ length: 170 }, (_, m) => [
      event({ service: 'shop' }, at(m), { text: `served ${m}`, eventType: 'info' }),
      event({ service: 'shop', signal: 'metrics' }, at(m) + 1_000, {
        text: `latency_ms=${m < 165 ? 40 + (m % 5) : 2_000 + m}`,
        eventType: 'latency_ms',
      }),
    ]).flat(),
    { sourceId: logs! },
  )
  harness.append([event({ service: 'shop' }, at(165), { text: 'deployed v2.15.1', eventType: 'deploy' })], {
    sourceId: deploys!,
  })
  harness.append(
    Array.from({ length: 40 }, (_, i) =>
      event({ service: 'shop' }, at(166) + i * 5_000, { text: `coupon ${i} not read`, eventType: 'error' }),
    ),
    { sourceId: logs! },
  )
  const span = (service: string, id: string, parent: string, start: number, ms: number) =>
    event({ service, trace_id: TRACE }, start, {
      eventType: 'span',
      text: `${service} (${ms}.0ms)`,
      raw: Buffer.from(
        JSON.stringify({
          spanId: id,
          parentSpanId: parent,
          startTimeUnixNano: `${start}000000`,
          endTimeUnixNano: `${start + ms}000000`,
        }),
      ),
    })
  const begun = at(168)
  const traced = harness.append(
    [
      span('pay', 'b1', 'a1', begun + 20, 100),
      span('shop', 'a1', '', begun, 200),
      event({ service: 'pay' }, begun + 60, { text: `declined, trace_id=${TRACE}`, eventType: 'warn' }),
    ],
    { sourceId: logs! },
  )
  const [secret] = harness.append(
    [
      event({ service: 'vault' }, at(100), {
        text: 'started',
        raw: Buffer.from(JSON.stringify({ note: SECRET, trace: 'x'.repeat(6_000), end: 'last words' })),
      }),
    ],
    { sourceId: hidden! },
  )
  store.db
    .prepare(
      `INSERT INTO documents (id, source_id, ingested_at, labels, entity, text, raw) VALUES (900001, ?, ?, '{"service":"shop"}', 'service', 'runbook (md) …', ?)`,
    )
    .run(
      hidden,
      T0,
      Buffer.from(JSON.stringify({ name: 'runbook', format: 'md', content: 'Step one.\n'.repeat(900) })),
    )
  store.db
    .prepare(
      `INSERT INTO projects (id, name, spec, snapshot, created_at, updated_at) VALUES ('p1', 'Shop', '{}', '{"value":"running"}', 0, 0)`,
    )
    .run()
  for (const name of ['logs', 'deploys'])
    store.db.prepare("INSERT INTO project_uses (project, kind, name) VALUES ('p1', 'source', ?)").run(name)
  const inspect = (question: InspectQuestion, projects: string[] = [], isRedacted = true) =>
    atOnce(inspectInSteps(ctx, question, { projects, now: NOW - 10 * MINUTE, isRedacted }))
  return { inspect, secret: `evt_${secret}`, traced: traced.map((id) => `evt_${id}`) }
}

describe('issue 17, 2.3: changed', () => {
  it('says of any window what the brief would: changes, numbers that moved, lines that are new', () => {
    const { text, heading, events } = shop().inspect({
      tool: 'changed',
      selector: { service: 'shop' },
      window: '10m',
    })
    expect(heading).toContain('2026-11-20T14:40:00.000Z to 2026-11-20T14:50:00.000Z against the 80m before')
    expect(text).toMatch(/## Changes\nevt_\d+ 14:45:00 deploys deploy: deployed v2\.15\.1/)
    expect(text).toMatch(/latency_ms: 42 \(40–44\) → 21\d\d/)
    expect(text).toMatch(/error ×40 new: coupon 39 not read/)
    expect(events.length).toBeGreaterThan(3)
  })

  it('of an earlier window says nothing of what came later', () => {
    const { text } = shop().inspect({
      ...{ tool: 'changed', from: '2026-11-20T13:00:00Z', to: '2026-11-20T13:30:00Z', baseline: '1h' },
    })
    expect(text).not.toContain('coupon')
    expect(text).not.toContain('deployed')
    expect(text).not.toContain('## Numbers that moved')
  })

  it('looks at every entity where none is named, and holds its budget', () => {
    const { inspect } = shop()
    const { text, tokens } = inspect({ tool: 'changed', window: '10m', max_tokens: 600 })
    expect(text).toContain('service=shop')
    expect(tokens).toBeLessThanOrEqual(600)
    expect(() => inspect({ tool: 'changed', window: '10s' })).toThrow(/at least 1m/)
    expect(() => inspect({ tool: 'changed', window: '20d', baseline: '20d' })).toThrow(/at most 30d together/)
  })
})

describe('what stopped with its source', () => {
  it('is not told as stopped: that the source took nothing in is said instead', () => {
    const harness = openHarness()
    const { store, ctx } = harness
    const labels = [{ name: 'service', field: 'service', primary: true }]
    const [logs, other] = ['logs', 'other'].map((name) => addSource(store, name, labels))
    const lines = (minutes: number, text: string) =>
      Array.from({ length: minutes * 12 }, (_, i) =>
        event({ service: 'shop' }, T0 + i * 5_000, { text: `${text} ${i}`, eventType: 'info' }),
      )
    harness.append(lines(170, 'served'), { sourceId: logs! })
    harness.append(lines(180, 'billed'), { sourceId: other! })
    const ask = (tool: 'changed' | 'series' | 'sources', window = '10m') => {
      const asked = { projects: [], now: NOW, isRedacted: true }
      const { heading, text } = atOnce(inspectInSteps(ctx, { tool, window }, asked))
      return `${heading}\n${text}`
    }
    expect(ask('changed')).toMatch(/STOPPED: .*: served/)
    const by = { id: 'key', name: 'ada' }
    store.tx(() =>
      advance(store.db, { kind: 'source', id: logs!, name: 'logs' }, 'pause', by, T0 + 170 * MINUTE),
    )
    const gap = 'logs took nothing in since 2026-11-20T14:50:00.000Z (paused)'
    expect(ask('changed')).toContain(gap)
    expect(ask('changed')).not.toContain('STOPPED')
    expect(ask('series', '1h')).toContain(gap)
    expect(ask('sources', '5m')).toContain(`logs: nothing in this window; ${gap}`)
  })
})

describe('issue 17, 2.3: series', () => {
  it('tells percentiles, when the level changed, and parts of the window', () => {
    const { text, events } = shop().inspect({ tool: 'series', label: 'latency_ms', window: '1h' })
    expect(text).toMatch(/^latency_ms \{service=shop\} \(logs\): \d+ samples, least 40 \(evt_\d+\), p50 42/)
    expect(text).toMatch(
      /changed at 2026-11-20T14:45:01\.000Z: 42 → 2167 \(as evt_\d+ → evt_\d+\), between evt_\d+ at 44 and evt_\d+ at 2165/,
    )
    expect(text).toMatch(/14:46:15 \d× 21/)
    expect(events.length).toBeGreaterThanOrEqual(4)
  })

  it('counts events where there are no numbers, and says so where none has the name', () => {
    const { inspect } = shop()
    expect(inspect({ tool: 'series', event_types: ['error'], window: '30m' }).text).toMatch(
      /^no numbers; events: 40/,
    )
    expect(inspect({ tool: 'series', label: 'nothing', window: '30m' }).text).toBe(
      'no number of that name in this window; there are latency_ms',
    )
  })

  it('finds changes of level by ranks, and none in noise', () => {
    const steps = [...Array(30).fill(5), ...Array(30).fill(9), ...Array(30).fill(2)].map(
      (v, i) => v + (i % 3) / 10,
    )
    expect(changePoints(steps)).toEqual([30, 60])
    expect(changePoints(Array.from({ length: 90 }, (_, i) => (i * 7919) % 13))).toEqual([])
    expect(changePoints([1, 2])).toEqual([])
  })

  it('finds the very place of a change, near the ends and of long series, too', () => {
    const step = (n: number, at: number) => Array.from({ length: n }, (_, i) => (i < at ? 10 : 500))
    const places = [
      [60, 58],
      [60, 2],
      [60, 31],
      [900, 895],
      [900, 454],
      [3_000, 1_503],
      [3_000, 2_976],
    ] as const
    for (const [n, at] of places) expect([n, ...changePoints(step(n, at))]).toEqual([n, at])
    const noisy = step(3_000, 1_497).map((v, i) => v + (i % 7))
    expect(changePoints(noisy)).toEqual([1_497])
    expect(changePoints(step(3_000, 1_503).map((v, i) => (i < 2_228 ? v : 40)))).toEqual([1_503, 2_228])
  })

  it('tells series of one name by the label that they differ in', () => {
    const { store, ctx, append } = openHarness()
    const sourceId = addSource(store, 'disks', [{ name: 'host', field: 'host', primary: true }])
    const of = (path: string, value: number, i: number) =>
      event({ host: 'db1', path, signal: 'metrics' }, T0 + i * MINUTE, {
        text: `used=${value}`,
        eventType: 'used',
      })
    append(Array.from({ length: 60 }, (_, i) => [of('/', 80, i), of('/data', i < 40 ? 20 : 60, i)]).flat(), {
      sourceId,
    })
    const { text } = atOnce(
      inspectInSteps(
        ctx,
        { tool: 'series', label: 'used', window: '2h' },
        { projects: [], now: T0 + 60 * MINUTE, isRedacted: true },
      ),
    )
    expect(text).toMatch(/^used \{host=db1, path=\/\} \(disks\): 60 samples, .*\n {2}no change of its level/)
    expect(text).toMatch(
      /\nused \{host=db1, path=\/data\} \(disks\): 60 samples, .*\n {2}changed at \S+: 20 → 60/,
    )
  })

  it('tells series of one name by their pods and regions, as far as those differ', () => {
    const { store, ctx, append } = openHarness()
    const sourceId = addSource(store, 'pods', [{ name: 'service', field: 'service', primary: true }])
    const of = (pod: string, value: number, i: number) =>
      event({ service: 'pay', pod, region: 'eu', signal: 'metrics' }, T0 + i * MINUTE, {
        text: `queue=${value}`,
        eventType: 'queue',
      })
    append(Array.from({ length: 20 }, (_, i) => [of('pay-1', 10, i), of('pay-2', 40, i)]).flat(), {
      sourceId,
    })
    const { text } = atOnce(
      inspectInSteps(
        ctx,
        { tool: 'series', label: 'queue', window: '2h' },
        { projects: [], now: T0 + 20 * MINUTE, isRedacted: true },
      ),
    )
    expect(text).toMatch(/^queue \{service=pay, pod=pay-1\} \(pods\): 20 samples, least 10 /)
    expect(text).toMatch(/\nqueue \{service=pay, pod=pay-2\} \(pods\): 20 samples, least 40 /)
  })

  it('tells series apart that are sent one after the other, and no requests', () => {
    const { store, ctx, append } = openHarness()
    const sourceId = addSource(store, 'disks', [{ name: 'host', field: 'host', primary: true }])
    const of = (labels: Record<string, string>, eventType: string, value: number, at: number) =>
      event({ host: 'db1', signal: 'metrics', ...labels }, at, { text: `${eventType}=${value}`, eventType })
    const rounds = Array.from({ length: 30 }, (_, i) => [
      of({ path: '/' }, 'used', 80, T0 + i * MINUTE),
      of({ path: '/data' }, 'used', 20, T0 + i * MINUTE + 1 + (i % 9)),
    ]).flat()
    // By a fixed sequence, now close to one another and now not.
    const requests = Array.from({ length: 60 }, (_, i) =>
      of({ route: i % 2 ? '/a' : '/b' }, 'took', 5 + (i % 7), T0 + i * 30_000 + ((i * 7_919) % 29_000)),
    )
    append(
      [...rounds, ...requests].sort((a, b) => a.ts! - b.ts!),
      { sourceId },
    )
    const told = (label: string) =>
      atOnce(
        inspectInSteps(
          ctx,
          { tool: 'series', label, window: '2h' },
          { projects: [], now: T0 + 31 * MINUTE, isRedacted: true },
        ),
      ).text
    expect(told('used')).toMatch(/^used \{host=db1, path=\/\} \(disks\): 30 samples, least 80 /)
    expect(told('used')).toMatch(/\nused \{host=db1, path=\/data\} \(disks\): 30 samples, least 20 /)
    expect(told('took')).toMatch(/^took \{host=db1\} \(disks\): 60 samples/)
  })

  it('tells the events at the edge of a change, each with no value but its own', () => {
    const { store, ctx, append } = openHarness()
    const sourceId = addSource(store, 'queue', [{ name: 'service', field: 'service', primary: true }])
    const ids = append(
      Array.from({ length: 60 }, (_, i) =>
        event({ service: 'pay', signal: 'metrics' }, T0 + i * MINUTE, {
          text: `depth=${i < 58 ? 10 + Number(i === 57) : 500}`,
          eventType: 'depth',
        }),
      ),
      { sourceId },
    )
    const { text, events } = atOnce(
      inspectInSteps(
        ctx,
        { tool: 'series', label: 'depth', window: '2h' },
        { projects: [], now: T0 + 60 * MINUTE, isRedacted: true },
      ),
    )
    const [usual, last, first] = [56, 57, 58].map((i) => `evt_${ids[i]}`)
    expect(text).toContain(
      `changed at ${new Date(T0 + 58 * MINUTE).toISOString()}: 10 → 500 (as ${usual} → ${first}), between ${last} at 11 and ${first} at 500`,
    )
    expect(events.find(({ id }) => id === last)).toMatchObject({ numbers: [11] })
  })
})

describe('issue 17, 2.3: trace', () => {
  it('gives all events and spans of one id in the order they began, of labels and of texts', () => {
    const { inspect, traced } = shop()
    const [pay, web, log] = traced
    for (const id of [TRACE, TRACE.slice(0, 8)]) {
      const { heading, text, events } = inspect({ tool: 'trace', id })
      expect(heading).toContain(`Trace ${TRACE}: 3 events and spans of 1 source`)
      expect(text.split('\n').map((line) => line.slice(0, 40).replace(/ (shop|pay) logs.*/, ''))).toEqual([
        `${web} +0ms 200ms`,
        `  ${pay} +20ms 100ms`,
        `${log} +60ms`,
      ])
      expect(events.map((one) => one.id)).toEqual([web, pay, log])
    }
  })

  it('says that there is none, and refuses what is no id', () => {
    const { inspect } = shop()
    expect(inspect({ tool: 'trace', id: 'ffffffffffff' }).text).toBe('no events')
    expect(() => inspect({ tool: 'trace', id: 'x' })).toThrow(/first 8 characters/)
  })
})

describe('issue 17, 2.3: event and document', () => {
  it('open a payload in pages that together are all of it, without what looks like a secret', () => {
    const { inspect, secret } = shop()
    let whole = ''
    let cursor: string | undefined
    for (let page = 0; page < 30; page++) {
      const answer = inspect({ tool: 'event', id: secret, max_tokens: 400, ...(cursor ? { cursor } : {}) })
      expect(answer.tokens).toBeLessThanOrEqual(400)
      whole += answer.record!.payload
      cursor = answer.next_cursor ?? undefined
      if (!cursor) break
    }
    expect(cursor).toBeUndefined()
    expect(JSON.parse(whole)).toMatchObject({ end: 'last words' })
    expect(whole).not.toContain('hunter2hunter2')
    const raw = inspect({ tool: 'event', id: secret, max_tokens: 25_000 }, [], false)
    expect(raw.record!.payload).toContain(SECRET)
  })

  it('give a document whole, and a list of those there are', () => {
    const { inspect } = shop()
    expect(inspect({ tool: 'document' }).text).toBe(
      'evt_900001 hidden runbook, 9000 characters {service=shop}',
    )
    const first = inspect({ tool: 'document', id: 'evt_900001', max_tokens: 1_000 })
    expect(first.text.startsWith('Step one.\nStep one.\n')).toBe(true)
    const second = inspect({
      tool: 'document',
      id: 'evt_900001',
      max_tokens: 1_000,
      cursor: first.next_cursor!,
    })
    expect(second.heading).toContain(`from character ${first.text.length}`)
    expect(() => inspect({ tool: 'document', id: 'evt_900001', cursor: 'x' })).toThrow(/next_cursor/)
  })
})

describe('issue 17, 2.3: what there is', () => {
  it('labels, values and sources, with counts and the newest event', () => {
    const { inspect } = shop()
    expect(inspect({ tool: 'labels' }).text).toMatch(
      /^service: 3 values on 385 events: shop 382, pay 2, vault 1$/m,
    )
    expect(inspect({ tool: 'entities', label: 'service', prefix: 'p' }).text).toMatch(
      /^service=pay: 2 events, newest 2026-11-20T14:48:00\.060Z logs warn \(evt_\d+\)$/,
    )
    expect(inspect({ tool: 'sources', window: '10m' }).text).toMatch(/^hidden: nothing in this window$/m)
    expect(() => inspect({ tool: 'entities' })).toThrow(/label must name/)
  })
})

describe('issue 17, 2.3: every tool', () => {
  it('says of a name that was mistyped that nothing has it, and of silence when something came last', () => {
    const { inspect, traced } = shop()
    const never = 'no events in this window, nor at any other time'
    const early = { from: '2026-11-20T10:00:00Z', to: '2026-11-20T11:00:00Z' }
    for (const tool of ['changed', 'series'] as const) {
      const said = (question: Partial<InspectQuestion>) => inspect({ tool, ...question }).text
      expect(said({ selector: { service: 'nothing-near' } })).toBe(never)
      expect(said({ selector: { service: 'shpo' } })).toBe(
        `${never}; no event has service=shpo (did you mean shop?)`,
      )
      // Whoever reads a project is told of nothing that others have.
      expect(inspect({ tool, selector: { service: 'shpo' } }, ['p1']).text).toBe(never)
      expect(inspect({ tool, selector: { srvice: 'shop' } }, ['p1']).text).toBe(
        `${never}; no event has the label srvice`,
      )
      expect(said({ selector: { srvice: 'shop' } })).toBe(
        `${never}; no event has the label srvice (did you mean service?)`,
      )
      expect(said({ selector: { service: 'pay' }, ...early })).toBe(
        'no events in this window; last seen 2026-11-20T14:48:00.060Z',
      )
      expect(said(early)).toBe('no events')
    }
    expect(() => inspect({ tool: 'document', id: traced[0]! })).toThrow(
      /it may be an event, which is no document/,
    )
  })

  it('sees of a project what it reads, and nothing else', () => {
    const { inspect, secret } = shop()
    const p = ['p1']
    expect(inspect({ tool: 'sources' }, p).text).not.toContain('hidden')
    expect(inspect({ tool: 'labels' }, p).text).not.toContain('vault')
    expect(inspect({ tool: 'document' }, p).text).toBe('none')
    for (const id of [secret, 'evt_900001'])
      for (const tool of ['event', 'document'] as const)
        expect(() => inspect({ tool, id }, p)).toThrow(/nothing that may be read here/)
    expect(inspect({ tool: 'changed', window: '2h' }, p).text).not.toContain('vault')
    expect(inspect({ tool: 'trace', id: TRACE }, p).heading).toContain('3 events')
  })

  it('sees what had been ingested by an instant', () => {
    const { inspect, traced } = shop()
    const before = '2026-11-20T11:59:59Z'
    expect(() => inspect({ tool: 'event', id: traced[0]!, as_of: before })).toThrow(
      /nothing that may be read/,
    )
    expect(inspect({ tool: 'trace', id: TRACE, as_of: before }).text).toBe('no events')
  })

  it('answers the same to the same question, within its tokens', () => {
    const { inspect } = shop()
    for (const question of [
      { tool: 'changed', window: '10m' },
      { tool: 'series', window: '1h' },
      { tool: 'trace', id: TRACE },
      { tool: 'labels' },
      { tool: 'sources' },
    ] as InspectQuestion[]) {
      const one = inspect({ ...question, max_tokens: 300 })
      expect(inspect({ ...question, max_tokens: 300 })).toEqual(one)
      expect(cautiousTokens(`${one.heading}\n${one.text}`), question.tool).toBeLessThanOrEqual(300)
    }
  })
})
