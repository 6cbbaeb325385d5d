/** Reads through joined entities: the merge of the plain reads of their names, and nothing else (docs/entities.md). */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: names refer to groups so
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inspectInSteps } from '../../../../engine/agents/inspect.ts'
import { type EntityRule, EntityRules } from '../../../../engine/log/entity-rules.ts'
import { coverageInSteps } from '../../../../engine/log/entity-views.ts'
import { atOnce } from '../../../../engine/log/steps.ts'
import type { OpenStore } from '../../../../engine/log/store/open.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import { histogramInSteps, statsInSteps } from '../../../../engine/log/timeline/stats.ts'
import type { ReadRequest } from '../../../../schemas/types.ts'
import { addSource, event, openHarness, T0 } from '../store/store-harness.ts'

const NOW = T0 + 3_600_000
const HOST = '10.0.0.4'

/** Declares the entities as they are from now on, as a change-set does. @param at epoch ms */
function declare({ db }: OpenStore, rules: readonly EntityRule[], at: number): void {
  const set = Number(
    db
      .prepare(
        "INSERT INTO change_sets (at, actor, actor_id, origin, why, summary) VALUES (?, 'maria', 'key:1', 'api', '', '')",
      )
      .run(at).lastInsertRowid,
  )
  const change = db.prepare(
    "INSERT INTO changes (change_set, seq, kind, key, name, action, before, after) VALUES (?, ?, 'entity', ?, ?, ?, NULL, ?)",
  )
  const before = db.prepare('SELECT name FROM entities').pluck().all() as string[]
  db.prepare('DELETE FROM entities').run()
  let seq = 0
  for (const name of before) change.run(set, seq++, name, name, 'delete', null)
  for (const { name, ...spec } of rules) {
    change.run(set, seq++, name, name, 'create', JSON.stringify(spec))
    db.prepare('INSERT INTO entities VALUES (?, ?, ?, ?, ?)').run(name, JSON.stringify(spec), set, at, at)
  }
}

const API: EntityRule = { name: 'api', kind: 'service', is: ['service=api', 'repo=org/api', `host=${HOST}`] }

function setUp() {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [{ name: 'service', field: 'service', primary: true }])
  const read = (request: Partial<ReadRequest> = {}, now = NOW) =>
    answerRead(harness.ctx, { selector: { service: 'api' }, window: '2h', ...request }, now)
  harness.append(
    [
      event({ service: 'api' }, T0 + 1_000, { text: 'error' }),
      event({ repo: 'org/api' }, T0 + 2_000, { text: 'pushed' }),
      event({ host: HOST, service: 'api' }, T0 + 3_000, { text: 'both' }),
      event({ host: HOST }, T0 + 4_000, { text: 'disk full' }),
      event({ host: '10.0.0.5' }, T0 + 5_000, { text: 'other' }),
    ],
    { sourceId: app },
  )
  return {
    ...harness,
    app,
    read,
    declare: (rules: EntityRule[], at = T0) => declare(harness.store, rules, at),
  }
}

const texts = (answer: { rows: { text: string }[] }) => answer.rows.map(({ text }) => text)

describe('a read of a name of a joined entity', () => {
  it('answers all of its names, and by which other name each row is of it', () => {
    const { read, declare } = setUp()
    declare([API])
    const answer = read()
    expect(texts(answer)).toEqual(['error', 'pushed', 'both', 'disk full'])
    expect(answer.rows.map(({ joined_by }) => joined_by)).toEqual([
      undefined,
      'repo=org/api',
      undefined,
      `host=${HOST}`,
    ])
    expect(answer.joined).toEqual([
      {
        ...{ label: 'service', value: 'api', entity: 'api', kind: 'service' },
        names: ['service=api', 'repo=org/api', `host=${HOST}`],
      },
    ])
    expect(answer.payload.split('\n')[0]).toBe(
      `=== read · service=api (also repo=org/api, host=${HOST}) · window=2h · ONE svc read ===`,
    )
  })

  it('is the same from whichever name it is asked, but for the name itself', () => {
    const { read, declare } = setUp()
    declare([API])
    const rows = (selector: Record<string, string>) => read({ selector }).rows.map(({ id }) => id)
    expect(rows({ repo: 'org/api' })).toEqual(rows({ service: 'api' }))
    expect(rows({ host: HOST })).toEqual(rows({ service: 'api' }))
  })

  it('with joined false, and after the rule is gone, is byte for byte what it was', () => {
    const { read, declare } = setUp()
    const before = JSON.stringify(read())
    declare([API])
    expect(JSON.stringify(read({ joined: false }))).toBe(before)
    expect(JSON.stringify(read())).not.toBe(before)
    declare([], T0 + 1)
    expect(JSON.stringify(read())).toBe(before)
  })

  it('as of an instant follows the rules of that instant', () => {
    const { read, declare } = setUp()
    declare([API], T0 + 60_000)
    declare([{ ...API, is: ['service=api', 'repo=org/api'] }], T0 + 120_000)
    const asOf = (ms: number) => texts(read({ as_of: new Date(T0 + ms).toISOString() }))
    expect(asOf(59_999)).toEqual(['error', 'both'])
    expect(asOf(60_000)).toEqual(['error', 'pushed', 'both', 'disk full'])
    expect(asOf(120_000)).toEqual(['error', 'pushed', 'both'])
  })

  it('as of an instant is counted by the tools that look as it is read', () => {
    const { ctx, declare } = setUp()
    declare([API], T0 + 60_000)
    const sources = (ms: number) => {
      const at = new Date(T0 + ms).toISOString()
      const question = { tool: 'sources', selector: { service: 'api' }, as_of: at } as const
      const asking = { projects: [], now: NOW, isRedacted: false }
      return atOnce(inspectInSteps(ctx, question, asking)).heading
    }
    expect(sources(59_999)).toContain('over 2 events')
    expect(sources(60_000)).toContain('over 4 events')
  })

  it('goes on by the rules of its first page', () => {
    const { read, declare } = setUp()
    declare([API])
    const first = read({ limit: 2, order: 'asc' })
    declare([], T0 + 1)
    const second = read({ limit: 2, order: 'asc', cursor: first.next_cursor! })
    expect([...texts(first), ...texts(second)]).toEqual(['error', 'pushed', 'both', 'disk full'])
    expect(second.joined).toEqual(first.joined)
  })

  it('tells when any of its names was last seen, where the window has none', () => {
    const { read, declare } = setUp()
    declare([{ name: 'web', is: ['service=web', `host=${HOST}`] }])
    const answer = read({ selector: { service: 'web' }, window: '1m' })
    expect(answer.rows).toEqual([])
    expect(answer.last_seen).toBe(new Date(T0 + 4_000).toISOString())
  })

  it('says of a name that no event has nothing but silence: it is known', () => {
    const { read, declare } = setUp()
    declare([{ name: 'old', is: ['deployment=old', 'app=old'] }])
    expect(read({ selector: { deployment: 'old' } }).notice).toBeUndefined()
    expect(read({ selector: { deploymnt: 'old' } }).notice).toBe('no event has the label deploymnt')
  })

  it('counts and draws all of its names', () => {
    const { ctx, declare } = setUp()
    const stats = () =>
      atOnce(statsInSteps(ctx, { by: 'source', where: { service: 'api' }, window: '2h' }, NOW))
    const drawn = (joined?: boolean) =>
      atOnce(
        histogramInSteps(
          ctx,
          { selector: { service: 'api' }, window: '2h', ...(joined === undefined ? {} : { joined }) },
          NOW,
        ),
      ).total
    const before = JSON.stringify(stats())
    expect(drawn()).toBe(2)
    declare([API])
    expect(stats().total.now).toBe(4)
    expect([drawn(), drawn(false)]).toEqual([4, 2])
    declare([], T0 + 1)
    expect(JSON.stringify(stats())).toBe(before)
  })
})

const LABELS = ['service', 'host', 'repo'] as const
const value = fc.constantFrom('a', 'b', 'c')
const rule = fc.oneof(
  fc.uniqueArray(
    fc.tuple(fc.constantFrom(...LABELS), value).map(([l, v]) => `${l}=${v}`),
    { minLength: 2, maxLength: 4 },
  ),
  fc
    .shuffledSubarray([...LABELS], { minLength: 2 })
    .map((labels) => labels.map((label, i) => `${label}=${i ? '${n}' : '(?<n>[abc])'}`)),
)
const stored = fc.record({
  labels: fc.dictionary(fc.constantFrom(...LABELS), value, { maxKeys: 3 }),
  at: fc.integer({ min: 0, max: 50 }),
  isPoint: fc.boolean(),
})

describe('whatever the rules and events', () => {
  it('a joined read is the merge of the plain reads of its names, in its pages and folds', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 3 }),
        fc.array(stored, { maxLength: 40 }),
        fc.constantFrom(...LABELS),
        value,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('asc', 'desc'),
        (all, events, label, asked, limit, order) => {
          const harness = openHarness()
          const source = addSource(harness.store, 'app', [
            { name: 'service', field: 'service', primary: true },
          ])
          if (events.length)
            harness.append(
              events.map(({ labels, at, isPoint }) =>
                event({ ...labels, ...(isPoint ? { signal: 'metrics' } : {}) }, T0 + at, {
                  text: isPoint ? 'load=1' : `at ${at}`,
                }),
              ),
              { sourceId: source },
            )
          const rules = all.map((is, i) => ({ name: `r${i}`, is }))
          const read = (request: Partial<ReadRequest>) =>
            answerRead(harness.ctx, { selector: { [label]: asked }, window: '2h', order, ...request }, NOW)
          const before = JSON.stringify(read({}))
          declare(harness.store, rules, T0)
          const names = new EntityRules(rules).of(label, asked)?.names ?? [{ label, value: asked }]
          const apart = names.flatMap(
            (name) => read({ selector: { [name.label]: name.value }, joined: false, points: 'all' }).rows,
          )
          const merged = [...new Map(apart.map((row) => [row.id, row])).values()].sort(
            (a, b) =>
              (order === 'asc' ? 1 : -1) *
              (Date.parse(a.event_time) - Date.parse(b.event_time) ||
                Number(a.id.slice(4)) - Number(b.id.slice(4))),
          )
          const paged = []
          for (let cursor: string | null | undefined; cursor !== null; ) {
            const page = read({ limit, points: 'all', ...(cursor ? { cursor } : {}) })
            paged.push(...page.rows)
            cursor = page.next_cursor
          }
          expect(paged.map(({ joined_by: _by, ...row }) => row)).toEqual(merged)
          for (const { joined_by, labels } of paged) {
            const [own] = joined_by === undefined ? [`${label}=${asked}`] : joined_by.split(', ')
            const [name, is] = own!.split('=')
            expect(labels[name!]).toBe(is)
          }
          const folded = read({ points: 'folded' }).rows
          expect(folded.reduce((sum, { fold }) => sum + (fold?.count ?? 1), 0)).toBe(merged.length)
          declare(harness.store, [], T0 + 1)
          expect(JSON.stringify(read({}))).toBe(before)
        },
      ),
      { numRuns: 150 },
    )
  })
})

describe('coverage', () => {
  it('says what has no entity, what a draft joins, and what it cannot have', () => {
    const { ctx, declare } = setUp()
    const look = (body: Parameters<typeof coverageInSteps>[1]) => atOnce(coverageInSteps(ctx, body))
    expect(look({})).toMatchObject({ events: 5, unjoined: 5, joins: 0, adds: 0 })
    expect(look({ is: API.is })).toMatchObject({
      ...{ events: 5, unjoined: 5, joins: 4, adds: 4, things: 1, joined_things: 1, conflicts: [] },
      names: [
        { label: 'service', events: 2, values: 1 },
        { label: 'host', events: 2, values: 1 },
        { label: 'repo', events: 1, values: 1 },
      ],
      without: [{ label: 'host', value: '10.0.0.5', events: 1 }],
    })
    declare([API])
    expect(look({ is: ['host=(?<n>.+)', 'node=${n}'] })).toMatchObject({
      ...{ unjoined: 1, joins: 1, adds: 1 },
      taken: [{ name: `host=${HOST}`, entity: 'api', events: 2 }],
    })
    expect(look({ name: 'other', is: ['service=api', 'app=api'] }).conflicts).toEqual([
      { name: 'service=api', entity: 'api' },
    ])
    expect(look({ name: 'api', is: API.is })).toMatchObject({ unjoined: 5, joins: 4, adds: 4, conflicts: [] })
    expect(() => look({ is: ['service=api', 'x'] })).toThrow(/is\[1\] must be label=value/)
  })
})
