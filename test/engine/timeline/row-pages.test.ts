/** Rows that briefs keep in memory: briefs are the same as from rows read anew, and read what they show and what is new. */
import { describe, expect, it } from 'vitest'
import {
  type ContextRow,
  cautiousTokens,
  makeBriefInSteps,
  renderBrief,
} from '../../../engine/context/index.ts'
import { briefInSteps } from '../../../engine/runs/brief-read.ts'
import { fence } from '../../../engine/runs/fence.ts'
import type { BriefQuestion } from '../../../engine/runs/types.ts'
import { removeEvents } from '../../../engine/store/remove.ts'
import type { ReadContext } from '../../../engine/timeline/context.ts'
import { compilePlan, queryOf } from '../../../engine/timeline/plan.ts'
import { RowPages } from '../../../engine/timeline/row-pages.ts'
import { setSpans } from '../../../engine/timeline/spans.ts'
import { atOnce } from '../../../engine/timeline/steps.ts'
import type { StoredRow } from '../../../engine/timeline/stored-row.ts'
import { namedCuts, wideRows } from '../../../engine/timeline/wide-rows.ts'
import { addSource, event, openHarness, random, type StoreHarness, T0 } from '../store/store-harness.ts'

const SMALL = { page: 64, worth: 8, bytes: 200_000 }
const MANY = 200_000

const withPages = (ctx: ReadContext, sizes = SMALL): ReadContext => ({
  ...ctx,
  pages: new RowPages(ctx.rows, ctx.dictionary, ctx.names, ctx.index.tail, sizes),
})

const question = (more: Partial<BriefQuestion> = {}): BriefQuestion => ({
  ...{ label: 'service', entity: 'shop', to: T0, asOf: T0, fired: [], budget: 6_000 },
  ...more,
})

/** The brief as it is made of rows that are read whole, and of which nothing is known before. */
function anew(ctx: ReadContext, projects: string[], asked: BriefQuestion, most: number): string {
  const { label, entity, to, asOf, fired, budget } = asked
  const plan = compilePlan(projects.length ? { project: projects } : {}, ctx.db, ctx.dictionary, ctx.names)
  const query = queryOf(plan, { from: to - 36 * 3_600_000, to }, ctx.ceilingAt(asOf))
  const { rows, cuts } = atOnce(wideRows(ctx, query, most, ctx.pages.reader(label, true)))
  atOnce(setSpans(ctx, rows, to))
  const brief = atOnce(
    makeBriefInSteps({
      ...{ rows: rows.map(plain), entity, label, fired, now: to, cuts: namedCuts(ctx, cuts) },
      budget: budget - cautiousTokens(fence('0'.repeat(16), '')),
    }),
  )
  return renderBrief(brief)
}

const plain = (row: StoredRow): ContextRow => {
  const { id, source, type, at, text, labels, entity, values, isSample, series, span } = row
  return { id, source, type, at, text, labels, entity, values, isSample, series, span }
}

const SERVICES = ['shop', 'pay', 'mail']
const PLACES = ['Cart.java:88', 'Stock.java:12', 'pay.go:7']

/** Events of all kinds that a brief tells apart: lines, alerts, numbers, changes, requests in texts, in labels, and spans. */
function some(chance: () => number, count: number, around: number) {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)]!
  return Array.from({ length: count }, (_, i) => {
    const ts = Math.round(around - chance() * 1_200_000)
    const service = pick(SERVICES)
    const labels = { service, team: pick(['a', 'b']), pod: `${service}-${Math.floor(chance() * 2)}` }
    const id = Math.floor(chance() * 40)
      .toString(16)
      .padStart(16, 'a')
    const made: (() => ReturnType<typeof event>)[] = [
      () =>
        event(labels, ts, { eventType: 'info', text: `answered ${i} in ${Math.floor(chance() * 90)} ms` }),
      () => event(labels, ts, { eventType: 'error', text: `gave up after ${i}: no "host 7" is there` }),
      () => event(labels, ts, { eventType: 'info', text: `trace_id=${id} ${pick(PLACES)} did it` }),
      () => event({ ...labels, trace_id: id }, ts, { eventType: 'info', text: `${pick(PLACES)} said` }),
      () => event(labels, ts, { eventType: 'cpu', text: `cpu=${i % 9}`, numbers: { value: i % 9 } }),
      () => event(labels, ts, { eventType: 'alert', text: `${pick(['FIRING', 'RESOLVED'])}: disk is full` }),
      () => event(labels, ts, { eventType: 'deployed', text: `deployed ${service} v${i}` }),
      () => span(labels, ts, id, i),
    ]
    return pick(made)()
  })
}

function span(labels: Record<string, string>, ts: number, trace: string, i: number) {
  const [begin, end] = [`${ts}000000`, `${ts + 20 + (i % 9)}000000`]
  const ids = { traceId: trace.padStart(32, '0'), spanId: String(i).padStart(16, '0'), name: 'GET /' }
  return event({ ...labels, signal: 'traces' }, ts, {
    ...{ eventType: 'span', text: `GET / (${20 + (i % 9)}ms)${i % 5 ? '' : ' ERROR'}` },
    raw: Buffer.from(JSON.stringify({ ...ids, startTimeUnixNano: begin, endTimeUnixNano: end })),
  })
}

function openShop(): StoreHarness & { sources: number[] } {
  const harness = openHarness()
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const sources = ['app', 'other'].map((name) => addSource(harness.store, name, labels))
  const { db } = harness.store
  db.exec(
    `INSERT INTO projects (id, name, spec, snapshot, created_at, updated_at) VALUES ('p1', 'P', '{}', '{"value":"active"}', 0, 0);
     INSERT INTO project_uses (project, kind, name) VALUES ('p1', 'source', 'app')`,
  )
  harness.ctx.names.refresh()
  return { ...harness, sources }
}

describe('a brief from rows that are kept', () => {
  it.each([1, 2, 3, 4, 5, 6])('is the same to the byte as from rows that are read anew (seed %i)', (seed) => {
    const chance = random(seed)
    const { ctx: opened, store, append, sources } = openShop()
    const ctx = withPages(opened, { ...SMALL, bytes: seed % 2 ? 200_000 : 30_000 })
    for (let turn = 0; turn < 12; turn++) {
      const at = T0 - 10_000 + turn * 500
      append(some(chance, 120, T0 - 5_000), { sourceId: sources[turn % 2]!, at })
      // Retention and purges take events out; a source that is renamed has its new name in all of its events.
      const last = ctx.index.tail.lastId
      if (turn % 3 === 2) {
        const ids = Array.from({ length: 30 }, () => 1 + Math.floor(chance() * last))
        removeEvents(store, ctx.index.tail, [...new Set(ids)])
        ctx.index.refresh(false)
      }
      if (turn === 7) {
        store.db.exec("UPDATE sources SET name = 'renamed', version = version + 1 WHERE name = 'other'")
        ctx.names.refresh()
      }
      const asked = question({
        ...{ label: turn % 4 === 3 ? 'team' : 'service', entity: turn % 4 === 3 ? 'a' : 'shop' },
        ...{ asOf: at - (turn % 5 === 4 ? 1_200 : 0), to: T0 - (turn % 2) * 60_000 },
        budget: turn % 2 ? 1_500 : 6_000,
      })
      for (const projects of [[], ['p1']])
        for (const most of [MANY, 300]) {
          const { text } = atOnce(briefInSteps(ctx, projects, asked, most))
          expect(text).toBe(anew(ctx, projects, asked, most))
        }
    }
  })

  it('reads of what was looked at before the texts of what it shows alone, and the rows of what is new', () => {
    const { ctx: opened, append, sources } = openShop()
    const ctx = withPages(opened, { ...SMALL, bytes: 4_000_000 })
    append(some(random(7), 3_000, T0 - 5_000), { sourceId: sources[0]!, at: T0 - 900 })
    const first = atOnce(briefInSteps(ctx, [], question()))
    append(some(random(8), 5, T0 - 5_000), { sourceId: sources[0]!, at: T0 - 800 })
    const read = { rows: 0, texts: 0 }
    const rows = Object.assign(Object.create(ctx.rows), {
      texts: (ids: number[], make: never) => {
        read.rows += ids.length
        return ctx.rows.texts(ids, make)
      },
      text: (id: number) => {
        read.texts++
        return ctx.rows.text(id)
      },
    })
    Object.assign(ctx.pages, { rows })
    const second = atOnce(briefInSteps(ctx, [], question()))
    expect(second.text).not.toBe(first.text)
    // The page that is not full yet, and what no page was made of.
    expect(read.rows).toBeLessThan(2 * SMALL.page)
    expect(read.texts).toBeLessThan(600)
  })

  it('begins again where an event was removed before its text was read', () => {
    const { ctx: opened, store, append, sources } = openShop()
    const ctx = withPages(opened)
    append(some(random(9), 2_000, T0 - 5_000), { sourceId: sources[0]!, at: T0 - 900 })
    const ids = append(
      [event({ service: 'shop' }, T0 - 9_000, { eventType: 'deployed', text: 'deployed shop v999999' })],
      { sourceId: sources[1]!, at: T0 - 800 },
    )
    append(some(random(10), 200, T0 - 5_000), { sourceId: sources[0]!, at: T0 - 700 })
    expect(atOnce(briefInSteps(ctx, [], question())).text).toContain('v999999')
    const steps = briefInSteps(ctx, [], question())
    // Rows are there, and no text of them yet.
    for (let i = 0; i < 3; i++) steps.next()
    removeEvents(store, ctx.index.tail, ids)
    ctx.index.refresh(false)
    const { text } = atOnce(steps)
    expect(text).not.toContain('v999999')
    expect(text).toBe(anew(ctx, [], question(), MANY))
  })

  it('keeps no more than its bytes, and the same part of a window that is larger', () => {
    const { ctx: opened, append, sources } = openShop()
    const ctx = withPages(opened, { ...SMALL, bytes: 60_000 })
    append(some(random(11), 3_000, T0 - 5_000), { sourceId: sources[0]!, at: T0 - 900 })
    const pages = () => [...(ctx.pages as unknown as { pages: Map<string, unknown> }).pages.keys()]
    atOnce(briefInSteps(ctx, [], question()))
    const first = pages()
    atOnce(briefInSteps(ctx, [], question()))
    expect(first.length).toBeGreaterThan(0)
    expect(pages().sort()).toEqual(first.sort())
    expect((ctx.pages as unknown as { bytes: number }).bytes).toBeLessThanOrEqual(60_000)
  })
})
