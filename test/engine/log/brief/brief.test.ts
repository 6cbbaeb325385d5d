/** Each part of the brief: where it must show, and where it must not. */
import { describe, expect, it } from 'vitest'
import { makeBrief, NOBODY, renderBrief } from '../../../../engine/log/brief/brief.ts'
import { briefOf, every, ordinary, partOf, request, row, samples, textOf } from './hand-made.ts'

const deployed = (t: number, entity: string, version: string) =>
  row(t, `deployed ${entity} ${version}`, { source: 'deploys', type: 'deployed', entity })

describe('changes', () => {
  it('are shown in time order, each by itself with its id, though errors are many', () => {
    const brief = briefOf([
      ...ordinary(),
      deployed(-1_300, 'checkout', 'v2.15.1'),
      deployed(-400, 'checkout', 'v2.15.2'),
      ...every(-1_200, -1, 6_000, (i) => `tax lookup timed out for basket ${i}`, { type: 'error' }),
    ])
    const changes = partOf(brief, 'changes')
    expect(changes).toHaveLength(2)
    expect(changes[0]).toMatch(/^evt_\d+ 11:38:20 deploys deployed: deployed checkout v2\.15\.1$/)
    expect(changes[1]).toContain('v2.15.2')
  })

  it('of one instant are shown as they were stored, whichever says most', () => {
    const diff = ['--- values.yaml', '-  tag: 1.14.2', '+  tag: 1.15.0: migrations failed before']
    const rows = diff.map((text) => row(-300, text, { source: 'gitops', type: 'what_changed' }))
    const changes = partOf(briefOf([...ordinary(), ...rows]), 'changes')
    expect(changes.map((line) => line.split('what_changed: ')[1])).toEqual(diff)
  })

  it('of others are shown near the onset, and not a day before it', () => {
    const changes = partOf(
      briefOf([
        ...ordinary(),
        deployed(-90_000, 'mail', 'v1'),
        deployed(-700, 'payments', 'v7'),
        ...every(-600, -1, 80, () => 'call failed: deadline exceeded', { type: 'error' }),
      ]),
      'changes',
    )
    expect(changes).toEqual([expect.stringContaining('deployed payments v7 {service=payments}')])
  })

  it('are no rare levels of log lines', () => {
    const brief = briefOf([...ordinary(), row(-300, 'disk nearly full', { type: 'fatal' })])
    expect(partOf(brief, 'changes')).toEqual([])
    expect(partOf(brief, 'lines').join()).toContain('logs fatal ×1 new: disk nearly full')
  })
})

describe('numbers', () => {
  const latency = (t: number) => (t < -600 ? 48 + (t % 5) : 2_327)

  it('that moved say usual, band, now, peak and since, with ids of a usual and an unusual sample', () => {
    const rows = [...ordinary(), ...samples('p99_ms', latency)]
    const [line] = partOf(briefOf(rows), 'numbers')
    expect(line).toMatch(
      /^evt_\d+…evt_\d+ metrics p99_ms: 4\d \(4\d–4\d\) → 2327 \(peak 2327\) since 11:50:00, \d+ samples$/,
    )
    const brief = briefOf(rows)
    const [normal, far] = brief.sections.find(({ name }) => name === 'numbers')!.lines[0]!.shown
    expect(normal![0]).not.toBe(far![0])
  })

  it('of another entity are shown under its name', () => {
    const [line] = partOf(
      briefOf([...ordinary(), ...samples('cpu_percent', (t) => (t < -400 ? 20 : 97), { entity: 'reports' })]),
      'numbers',
    )
    expect(line).toMatch(/ metrics cpu_percent: 20 .* → 97 .*\{service=reports\}$/)
  })

  it('that go on as they did are not shown', () => {
    const brief = briefOf([...ordinary(), ...samples('p99_ms', (t) => 48 + (t % 7))])
    expect(partOf(brief, 'numbers')).toEqual([])
  })

  it('of counters are told by how fast they grow', () => {
    const rows = samples('requests_total', (t) =>
      Math.round(t < -600 ? 60 * t + 1e6 : 600 * (t + 600) + 964_000),
    )
    const [line] = partOf(briefOf([...ordinary(), ...rows]), 'numbers')
    expect(line).toMatch(/requests_total a second: 60 .* → 600 /)
    const steady = samples('requests_total', (t) => 60 * t + 1e6)
    expect(partOf(briefOf([...ordinary(), ...steady]), 'numbers')).toEqual([])
  })

  it('of one type are told apart by the names that their texts give them', () => {
    const mixed = [
      ...samples('cpu_percent', (t) => (t < -400 ? 20 : 97), { type: 'metric' }),
      ...samples('free_mb', (t) => 60 + (t % 7), { type: 'metric' }),
    ]
    const lines = partOf(briefOf([...ordinary(), ...mixed]), 'numbers')
    expect(lines).toEqual([expect.stringMatching(/ metrics cpu_percent: 20 .* → 97 /)])
  })

  it('of which a single value is far beyond all before it are shown, though all is as before again', () => {
    const spiked = (t: number) => (t === -180 ? 103 : 1 + (Math.abs(t) % 5))
    expect(partOf(briefOf([...ordinary(), ...samples('cpu_millis', spiked)]), 'numbers')).toEqual([
      expect.stringMatching(/cpu_millis: 1 \(1–1\) → 1 \(peak 103\) since 11:57:00/),
    ])
    // Twice as much as ever is chance in a number that jumps.
    const jumps = (t: number) => (t === -180 ? 9 : 1 + (Math.abs(t / 60) % 5))
    expect(partOf(briefOf([...ordinary(), ...samples('cpu_millis', jumps)]), 'numbers')).toEqual([])
  })

  it('of a history that begins a moment before they moved are told from its first values', () => {
    const young = (values: readonly number[]) =>
      values.map((value, i) =>
        row(-60 * (values.length - i), `write_iops=${value}`, {
          ...{ source: 'metrics', type: 'write_iops', values: { value }, isSample: true },
        }),
      )
    const moved = [420, 8_920, 18_430, 19_842, 20_184, 20_392, 20_481, 20_534, 20_498, 20_521, 20_487, 20_512]
    moved.push(20_498, 20_543, 20_519, 20_487, 20_512, 20_498, 20_531, 20_519)
    expect(partOf(briefOf(young(moved)), 'numbers')).toEqual([
      expect.stringMatching(/write_iops: 420 \(420–420\) → 204\d\d \(peak 20543\) since 11:41:00/),
    ])
    // One low value first, and one among the others: the first alone is not what was usual.
    const mixed = partOf(briefOf(young([420, ...moved.slice(1, 6), 430, ...moved.slice(7)])), 'numbers')
    expect(mixed.join()).not.toContain('420 (420–420)')
  })

  it('that rise slowly over a day are shown for the entity', () => {
    const leak = Array.from({ length: 360 }, (_, i) =>
      row(-108_000 + i * 300, 'heap', {
        ...{ source: 'metrics', type: 'heap_mb', isSample: true },
        values: { value: 300 + 2 * i },
      }),
    )
    expect(partOf(briefOf([...ordinary(), ...leak]), 'numbers').join()).toContain('heap_mb')
  })
})

describe('lines', () => {
  it('that are new are counted, with first and last id and what they share', () => {
    const brief = briefOf([
      ...ordinary(),
      ...every(-500, -2, 60, (i) => `shard ${i} unreachable`, { type: 'error', labels: { region: 'eu-2' } }),
    ])
    const [line] = partOf(brief, 'lines')
    expect(line).toMatch(
      /^evt_\d+…evt_\d+ 11:51:40–11:59:\d\d logs error ×60 new: shard \d+ unreachable \{region=eu-2\}$/,
    )
    const { shown } = brief.sections.find(({ name }) => name === 'lines')!.lines[0]!
    expect(shown.map(([, count]) => count)).toEqual([0, 60])
  })

  it('that rose say in which window and what was usual', () => {
    const rose = [
      ...every(-10_000, -120, 80, (i) => `retry ${i}`, { type: 'warn' }),
      ...every(-118, -1, 60, (i) => `retry ${i}`, { type: 'warn' }),
    ]
    expect(partOf(briefOf([...ordinary(), ...rose]), 'lines').join()).toMatch(
      /logs warn ×\d+ in \d+m, usual \d.*: retry \d+/,
    )
    // What was to be expected is known by two digits.
    const few = [-9_000, -5_000, -3_000, -50, -40, -30, -20, -10].map((t) =>
      row(t, 'retry', { type: 'warn' }),
    )
    expect(partOf(briefOf([...ordinary(), ...few]), 'lines').join()).toMatch(
      /logs warn ×\d in \d+m, usual 0\.0*[1-9]\d?: retry/,
    )
  })

  it('that stopped are told with the last of them', () => {
    const beat = every(-10_800, -600, 340, (i) => `worker took job ${i}`, { entity: 'mail' })
    expect(partOf(briefOf([...ordinary(), ...beat]), 'lines').join()).toMatch(
      /STOPPED: 0 in \d+m, usual \d+.*, last at 11:4\d:\d\d: worker took job 339 \{service=mail\}/,
    )
  })

  it('name the first and the last event of the time and the count that are beside them', () => {
    const run = every(-1_500, -1, 300, (i) => `retry ${i}`, { type: 'warn' })
    const asked = request([...ordinary(), ...run])
    const said = makeBrief(asked).sections.flatMap(({ lines }) => lines)
    const retry = said.find(({ text }) => text.includes('retry'))!
    const get = said.find(({ text }) => text.includes('GET /basket'))!
    for (const [{ text, shown }, wording] of [
      [retry, 'retry'],
      [get, 'GET'],
    ] as const) {
      const [, first, last, from, until, count] =
        /^(evt_\d+)…(evt_\d+) ([\d:]+)–([\d:]+) logs \w+ ×(\d+)/.exec(text)!
      const nth = (id: string) => asked.rows.findIndex((one) => one.id === id)
      const between = asked.rows
        .slice(nth(first!), nth(last!) + 1)
        .filter(({ text: words }) => words.startsWith(wording))
      const at = (id: string) => new Date(asked.rows[nth(id)]!.at).toISOString().slice(11, 19)
      expect([at(first!), at(last!), between.length]).toEqual([from, until, Number(count)])
      // With the rate that the line tells of it.
      const rate = /(\d+) in \d+m, usual ([\d.]+)/.exec(text)!.slice(1).map(Number)
      expect(shown).toEqual([
        [first, 0],
        [last, Number(count), rate],
      ])
    }
    // A run that goes back beyond the window of its rate says how many it has, and how many of them are in that.
    expect(retry.text).toMatch(/11:35:00–11:59:5\d logs warn ×300, \d{2,3} in \d+m, usual /)
  })

  it('that come as before are usual, and those of others are not shown', () => {
    const brief = briefOf([
      ...ordinary(),
      ...every(-10_800, -1, 700, (i) => `polled ${i}`, { entity: 'mail' }),
    ])
    expect(partOf(brief, 'lines')).toEqual([])
    expect(partOf(brief, 'usual').join()).toContain('GET /basket')
    expect(textOf([...ordinary()])).not.toContain('polled')
  })

  it('of a pod without a past have no history, and are not called new', () => {
    const young = every(-100, -1, 40, (i) => `warming cache ${i}`, {
      entity: 'cart',
      labels: { pod: 'cart-1' },
    })
    expect(partOf(briefOf([...ordinary(), ...young]), 'lines').join()).toMatch(
      /×40, no history: warming cache/,
    )
  })

  it('of one wording in many entities are one line', () => {
    const rows = ['a', 'b', 'c', 'd'].flatMap((entity) =>
      every(-300, -1, 12, () => 'name resolution failed', { entity, type: 'error' }),
    )
    const past = ['a', 'b', 'c', 'd'].flatMap((entity) => every(-10_800, -1, 200, () => 'fine', { entity }))
    const lines = partOf(briefOf([...ordinary(), ...past, ...rows]), 'lines')
    expect(lines.filter((line) => line.includes('name resolution failed'))).toEqual([
      expect.stringMatching(/\(and in 3 more entities\)$/),
    ])
  })

  it('name the entity by the label that their events have, whatever others call it', () => {
    const orders = every(-7_200, -1_000, 60, (i) => `order ${i} stored`, { entity: 'shop' })
    const down = every(-300, -10, 20, () => 'shop is down', { entity: 'shop', source: 'up', type: 'down' })
    const monitored = down.map((one) => ({ ...one, labels: { monitor: 'shop' } }))
    const mixed = down.map(({ labels, ...one }, i) => ({
      ...one,
      labels: { ...(i < 10 ? {} : labels), monitor: 'shop' },
    }))
    for (const rows of [monitored, mixed]) {
      const lines = partOf(briefOf([...orders, ...rows], { entity: NOBODY }), 'lines')
      expect(lines.find((line) => line.includes(' up down '))).toMatch(/: shop is down \{monitor=shop[,}]/)
    }
  })

  it('keep both ends of a long text, and hold no secret', () => {
    const stack = `NullPointerException ${'at frame '.repeat(60)}Caused by: port 5432 refused; password=hunter22222`
    const text = textOf([...ordinary(), ...every(-300, -1, 20, () => stack, { type: 'error' })])
    expect(text).toContain('NullPointerException at frame')
    expect(text).toContain('Caused by: port 5432 refused')
    expect(text).not.toContain('hunter22222')
  })

  it('break no line by what they say', () => {
    const text = textOf([...ordinary(), row(-9, 'first\nevt_99 \u001b[31msecond', { type: 'error' })])
    expect(text).toContain('first ⏎ evt_99 \\u001b[31msecond')
  })
})

describe('alerts', () => {
  const fired = (times: number) =>
    Array.from({ length: times }, (_, i) => [
      row(-90_000 + i * 7_200, 'bounce rate over 2 %', { source: 'alerts', type: 'firing' }),
      row(-89_930 + i * 7_200, 'bounce rate over 2 %', { source: 'alerts', type: 'resolved' }),
    ]).flat()

  it('that fired and resolved many times before are a line by themselves', () => {
    expect(partOf(briefOf([...ordinary(), ...fired(12)]), 'usual')[0]).toMatch(
      /^evt_1…evt_\d+ alerts firing: FLAPPING: fired and resolved 12 times since 11-19 11:00, mostly within 70s, last at 09:00:00: bounce rate over 2 %$/,
    )
  })

  it('are known by a label or by their text as well, as Alertmanager and Prometheus say it', () => {
    const said = (i: number, state: string, labels: Record<string, string>) =>
      row(-60_000 + i * 3_000 + (state === 'resolved' ? 90 : 0), `${state.toUpperCase()}: HighBounce`, {
        ...{ source: 'alerts', type: 'HighBounce', labels },
      })
    for (const label of [true, false]) {
      const rows = Array.from({ length: 9 }, (_, i) =>
        ['firing', 'resolved'].map((state) => said(i, state, label ? { status: state } : {})),
      ).flat()
      expect(textOf([...ordinary(), ...rows])).toContain('FLAPPING: fired and resolved 9 times')
    }
  })

  it('that did so twice are not', () => {
    expect(textOf([...ordinary(), ...fired(2)])).not.toContain('FLAPPING')
  })
})

describe('the whole', () => {
  it('says when the trouble began', () => {
    const brief = briefOf([...ordinary(), ...every(-480, -1, 90, () => 'payment refused', { type: 'error' })])
    expect(new Date(brief.onset!).toISOString()).toBe('2026-11-20T11:52:00.000Z')
    expect(brief.head).toContain('trouble since 11:52:00 UTC')
  })

  it('dates trouble by lines that say it, not by new ones that say nothing of it', () => {
    const chatter = [
      'cache warmed',
      'index merged twice',
      'pool of five grew',
      'feed was read again',
    ].flatMap((text) => every(-200, -150, 6, () => text))
    const errors = every(-700, -1, 23, () => 'font library not loaded', { type: 'fatal' })
    expect(briefOf([...ordinary(), ...errors, ...chatter]).head).toContain('trouble since 11:48:20 UTC')
  })

  it('tells no time of trouble that nothing supports, and counts the wordings of changes', () => {
    const few = briefOf([
      row(-3_000, 'deployed v2', { source: 'deploys', type: 'deployed' }),
      row(-2_000, 'pool grew', { source: 'deploys', type: 'pool' }),
      row(-1_000, 'deployed v3', { source: 'deploys', type: 'deployed' }),
    ])
    expect(few.onset).toBeNull()
    expect(few.head).toMatch(
      /^3 events, 2 wordings, 0 new, stopped or moved, 3 changes; nothing says when trouble began;/,
    )
    expect(textOf(ordinary())).not.toContain('trouble since')
    // Whichever events tripped the trigger, the wordings are as many.
    const rows = [...ordinary(), row(-50, 'disk full', { source: 'disks', type: 'full' })]
    for (const fired of [[], ['evt_901'], ['evt_897']])
      expect(briefOf(rows, { fired }).head).toContain('901 events, 2 wordings')
  })

  it('has what agents found by itself, and not among changes', () => {
    const found = (t: number, text: string) =>
      row(t, text, { source: 'findings', type: 'finding', isFinding: true })
    const brief = briefOf([
      ...ordinary(),
      found(-1_200, 'investigate: the pool is small'),
      found(-60, 'root: a deploy shrank the pool'),
      row(-700, 'deployed v2', { source: 'deploys', type: 'deployed' }),
    ])
    expect(partOf(brief, 'changes')).toEqual([expect.stringContaining('deployed v2')])
    expect(partOf(brief, 'findings')).toEqual([
      expect.stringMatching(/^evt_\d+ 11:40:00 findings finding: investigate: the pool is small$/),
      expect.stringMatching(/^evt_\d+ 11:59:00 findings finding: root: a deploy shrank the pool$/),
    ])
    expect(renderBrief(brief)).toContain('\n## Found before by agents\n')
    // However many they are.
    const many = Array.from({ length: 40 }, (_, i) => found(-800 + i, `root: finding ${i}`))
    const all = briefOf([...ordinary(), ...many])
    expect([partOf(all, 'changes'), partOf(all, 'lines')]).toEqual([[], []])
    expect(partOf(all, 'findings')).toHaveLength(10)
  })

  it('says that history is short, or that the entity has none, or what was cut, and else nothing', () => {
    expect(briefOf(every(-600, -1, 50, () => 'fine')).head).toContain(
      'short history: nothing is older than 10 minutes',
    )
    expect(briefOf(every(-20, -1, 50, () => 'fine')).head).toContain('nothing is older than 1 minute, ')
    const young = every(-300, -1, 30, () => 'hello', { entity: 'new' })
    expect(briefOf([...ordinary(), ...young], { entity: 'new' }).head).toContain(
      'of service=new nothing is older than 5 minutes',
    )
    const cuts = [{ source: 'logs', of: 20_000, since: Date.parse('2026-11-20T08:12:00Z') }]
    expect(briefOf(ordinary(), { cuts }).head).toContain(
      'of logs only the newest 20,000 events were looked at, since 2026-11-20T08:12:00Z',
    )
    expect(briefOf(ordinary()).head).not.toContain('older')
  })

  it('says what no line stands for, by source and type', () => {
    const [left] = partOf(
      briefOf([
        ...ordinary(),
        ...every(-9_000, -1, 300, (i) => `polled ${i}`, { entity: 'mail', type: 'debug' }),
      ]),
      'left',
    )
    // Of the usual line those of its window: what came before is told by none.
    expect(left).toBe('1,126 events that no line stands for: logs info 826, logs debug 300')
  })

  it('names first whom the events speak against', () => {
    const rows = [
      ...ordinary(),
      ...samples('cpu_percent', (t) => (t < -400 ? 20 : 97), { entity: 'reports' }),
    ]
    expect(briefOf(rows).suspects[0]).toBe('reports')
  })

  it('is made of nothing, too', () => {
    expect(textOf([])).toContain('0 events')
  })
})
