/** What a real run is shown first: the brief, or the timeline; of what it may read, and the same each time. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { briefInSteps, createRunReads } from '../../../../engine/agents/runs/run-reads.ts'
import type { BriefQuestion } from '../../../../engine/agents/runs/types.ts'
import { cautiousTokens } from '../../../../engine/log/brief/brief.ts'
import { atOnce, snapshotsOf } from '../../../../engine/log/steps.ts'
import { createReadContext, type KeptRow, KeptRows } from '../../../../engine/log/timeline/context.ts'
import type { EntityWrite } from '../../../../schemas/types.ts'
import { addSource, event, openHarness, type StoreHarness, T0 } from '../../log/store/store-harness.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { conclude, error, stepsOf } from './replies.ts'
import { openRunWorld, type RunWorld } from './run-world.ts'

let world: RunWorld | undefined
afterEach(async () => {
  await world?.close()
  world = undefined
})

async function told(
  context: 'brief' | 'plain' | undefined,
  entity?: EntityWrite,
): Promise<{ message: string; shown: string[] }> {
  world = await openRunWorld()
  if (entity) await world.engine.createJoinedEntity(entity, BY)
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1', ...(context ? { context } : {}) })
  world.models.reply('m1', [conclude()])
  await world.engine.moveTrigger('t', 'pause', BY)
  await world.post({ service: 'payments', type: 'config_changed', msg: 'pool_size set from 40 to 4' })
  await world.engine.moveTrigger('t', 'resume', BY)
  await world.post(error)
  const [done] = await world.settled()
  const [prompt] = stepsOf(await world.run(done!.id), 'prompt')
  return { message: prompt!.message, shown: prompt!.shown.map(([id]) => id) }
}

describe('the first message of a run', () => {
  it('is the brief, where nothing else is said: a change of another entity is on it', async () => {
    const { message, shown } = await told(undefined)
    expect(message).toContain('What is unusual in all that you may read, ')
    expect(message).toContain('A line without an entity is of service=checkout.')
    expect(message).toMatch(/evt_1 \S+ app config_changed: pool_size set from 40 to 4 \{service=payments\}/)
    expect(shown).toContain('evt_1')
    expect(message).toMatch(/<<<data (\w+)\n[\s\S]*pool_size[\s\S]*\ndata \1>>>/)
  })

  it('is the timeline of the entity alone with context plain', async () => {
    const { message, shown } = await told('plain')
    expect(message).toContain('Timeline of service=checkout across all sources')
    expect(message).not.toContain('pool_size')
    expect(shown).toEqual(['evt_2'])
  })

  it('has the events of all names of a joined entity, its names and its neighbours', async () => {
    const entity = { name: 'shop', is: ['service=checkout', 'service=payments'], owned_by: ['team=shop'] }
    const brief = await told('brief', entity)
    expect(brief.message).toContain('service=checkout is also service=payments')
    expect(brief.message).toContain('service=checkout is owned by team=shop (by a rule)')
    await world?.close()
    const plain = await told('plain', entity)
    expect(plain.message).toContain('service=checkout is also service=payments')
    expect(plain.shown.sort()).toEqual(['evt_1', 'evt_2'])
  })

  it.each(['once', 'daily'])(
    'names planned maintenance of it that lasted then, or ended within the hour before: %s',
    async (often) => {
      world = await openRunWorld()
      const { engine, clock } = world
      clock.at = Math.ceil(clock.at / 60_000) * 60_000
      const [hour, minute] = [new Date(clock.at).getUTCHours(), new Date(clock.at).getUTCMinutes()]
      await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
      await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
      world.models.reply('m1', [conclude(), conclude()])
      const repeat = often === 'daily' ? { cron: `${minute} ${hour} * * *` } : null
      const of = { reason: 'Upgrade of the database', for: '10m', repeat }
      for (const entities of [['service=checkout'], ['service=search']])
        await engine.createMaintenance({ ...of, entities }, { by: 'mara', via: 'console' })
      const [from, until] = [clock.at, clock.at + 600_000].map((at) => new Date(at).toISOString())
      clock.at += 1_200_000
      await world.post(error)
      clock.at += 3_600_000
      await world.post(error)
      const messages = await Promise.all(
        (await world.settled()).map(async ({ id }) => stepsOf(await world!.run(id), 'prompt')[0]!.message),
      )
      const said = `Planned maintenance of it, ${from} to ${until}: "Upgrade of the database".`
      expect(messages.map((one) => one.split('Planned maintenance').length - 1).sort()).toEqual([0, 1])
      expect(messages.some((one) => one.includes(said))).toBe(true)
    },
  )

  it('is said of an agent as it is, and brief is no field of its own', async () => {
    await told('plain')
    expect(await world!.engine.getAgent('first-look')).toMatchObject({ context: 'plain' })
    await world!.agent({ name: 'second', context: 'brief' })
    expect(await world!.engine.getAgent('second')).toMatchObject({ context: 'brief' })
    const yaml = await world!.engine.exportCatalog()
    expect(yaml).toContain('context: plain')
    expect(yaml).not.toContain('context: brief')
  })
})

const question = (more: Partial<BriefQuestion> = {}): BriefQuestion => ({
  ...{ label: 'service', entity: 'shop', to: T0, asOf: T0, fired: [], budget: 6_000 },
  ...more,
})

function store(): StoreHarness & { app: number; other: number } {
  const harness = openHarness()
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const app = addSource(harness.store, 'app', labels)
  const other = addSource(harness.store, 'other', labels)
  const lines = (count: number, text: (i: number) => string, service: string) =>
    Array.from({ length: count }, (_, i) =>
      event({ service }, T0 - 7_000_000 + i * 2_000, { eventType: 'info', text: text(i) }),
    )
  harness.append(
    lines(3_000, (i) => `answered ${i}`, 'shop'),
    { sourceId: app, at: T0 - 1_000 },
  )
  harness.append(
    [event({ service: 'pay' }, T0 - 300_000, { eventType: 'deployed', text: 'deployed pay v7' })],
    {
      sourceId: other,
      at: T0 - 900,
    },
  )
  return { ...harness, app, other }
}

describe('the brief of a store', () => {
  it('is the same twice, to the byte, and whatever came after its instant', () => {
    const { ctx, append, app } = store()
    const first = atOnce(briefInSteps(ctx, [], question()))
    append([event({ service: 'shop' }, T0 - 60_000, { eventType: 'fatal', text: 'late' })], {
      sourceId: app,
      at: T0 + 5_000,
    })
    expect(atOnce(briefInSteps(ctx, [], question()))).toEqual(first)
    expect(first.text).toContain('deployed pay v7')
    const later = atOnce(briefInSteps(ctx, [], question({ asOf: T0 + 6_000 })))
    expect(later.text).toContain('late')
  })

  it('holds only what the projects of the run read', () => {
    const { ctx, store: opened, app } = store()
    opened.db
      .prepare(
        "INSERT INTO projects (id, name, spec, snapshot, created_at, updated_at) VALUES ('p1', 'P', '{}', '{\"value\":\"active\"}', 0, 0)",
      )
      .run()
    opened.db.prepare("INSERT INTO project_uses (project, kind, name) VALUES ('p1', 'source', 'app')").run()
    expect(app).toBeGreaterThan(0)
    const { text } = atOnce(briefInSteps(ctx, ['p1'], question()))
    expect(text).toContain('answered')
    expect(text).not.toContain('deployed pay')
  })

  it('looks at the newest of a source that has too many, says so, and loses no other source', () => {
    const { ctx } = store()
    const { text } = atOnce(briefInSteps(ctx, [], question(), 1_000))
    expect(text).toMatch(/of app only the newest \d{3} events were looked at, since 2026-11-20T/)
    expect(text).toContain('deployed pay v7')
    expect(atOnce(briefInSteps(ctx, [], question())).text).not.toContain('only the newest')
  })

  it('looks at a part of a newest minute that is too much by itself, and says so', () => {
    const { ctx, append, app } = store()
    append(
      Array.from({ length: 4_000 }, (_, i) =>
        event({ service: 'shop' }, T0 - 40_000 + i, { eventType: 'info', text: `burst ${i}` }),
      ),
      { sourceId: app, at: T0 - 800 },
    )
    const { text } = atOnce(briefInSteps(ctx, [], question(), 1_000))
    expect(text).toMatch(/of app only one in 5 of the newest, 8\d\d events were looked at, since 2026-11-20T/)
    expect(text).toContain('deployed pay v7')
  })

  it('is within its budget with its fence, and gives way between its steps', () => {
    const { ctx } = store()
    const steps = briefInSteps(ctx, [], question({ budget: 500 }))
    let turns = 0
    let next = steps.next()
    for (; !next.done; next = steps.next()) turns++
    expect(turns).toBeGreaterThanOrEqual(2)
    expect(
      cautiousTokens(`<<<data ${'0'.repeat(16)}\n${next.value.text}\ndata ${'0'.repeat(16)}>>>`),
    ).toBeLessThanOrEqual(500)
  })
})

/** Each holds all rows of its window: of 200 that began together over 100,000 events the reader ran out of memory. */
describe('what several runs look at at the same time', () => {
  it('is one after another, in the order they asked, and a short read comes between', async () => {
    const { ctx } = store()
    const order: string[] = []
    const ceilingAt = ctx.ceilingAt.bind(ctx)
    ctx.ceilingAt = (asOf) => {
      order.push(`begun ${asOf - T0}`)
      return ceilingAt(asOf)
    }
    const reads = createRunReads(ctx, { now: () => T0 }, snapshotsOf(ctx, false))
    const looked = [1, 2, 3].map((n) =>
      reads.briefFor([], question({ asOf: T0 + n })).finally(() => order.push(`over ${n}`)),
    )
    const short = reads.skillOf([], 'none').finally(() => order.push('short'))
    const [first] = await Promise.all([...looked, short])
    expect(order.filter((one) => one !== 'short')).toEqual(
      [1, 2, 3].flatMap((n) => [`begun ${n}`, `over ${n}`]),
    )
    expect(order.indexOf('short')).toBeLessThan(order.indexOf('over 1'))
    expect(first).toEqual(atOnce(briefInSteps(ctx, [], question({ asOf: T0 + 1 }))))
  })

  it('goes on after one that fails', async () => {
    const { ctx } = store()
    vi.spyOn(ctx, 'ceilingAt').mockImplementationOnce(() => {
      throw new Error('the disk cannot be read')
    })
    const reads = createRunReads(ctx, { now: () => T0 }, snapshotsOf(ctx, false))
    const failing = reads.briefFor([], question())
    const next = reads.briefFor([], question())
    await expect(failing).rejects.toThrow('the disk cannot be read')
    expect((await next).text).toContain('deployed pay v7')
  })
})

/** Issue 17, "It is done when" 3: what was read for one look is not read again for the next. */
describe('a window that is looked at again', () => {
  /** As one that looks for the first time is told. */
  const afresh = ({ store: opened }: StoreHarness, asked = question()) => {
    const ctx = createReadContext(opened.db, false, 'secret')
    ctx.index.refresh(true)
    return atOnce(briefInSteps(ctx, [], asked))
  }
  const again = ({ ctx }: StoreHarness, asked = question()) => atOnce(briefInSteps(ctx, [], asked))
  const readOf = ({ ctx }: StoreHarness) => {
    const texts = vi.spyOn(ctx.rows, 'texts')
    return () => texts.mock.calls.splice(0).reduce((sum, [ids]) => sum + ids.length, 0)
  }

  it('is read as far as it is new, and told as it is at first', () => {
    const harness = store()
    const read = readOf(harness)
    const first = again(harness)
    expect([read(), again(harness), read()]).toEqual([3_001, first, 0])
    harness.append(
      [event({ service: 'shop' }, T0 - 30_000, { eventType: 'error', text: 'pool of 9 is used up' })],
      { sourceId: harness.app, at: T0 - 100 },
    )
    const next = again(harness)
    expect(next.text).toContain('pool of 9 is used up')
    expect([read(), next]).toEqual([1, afresh(harness)])
    // Less of it, and of another entity by another label: each is told as it is by itself.
    for (const asked of [
      question({ to: T0 - 400_000, asOf: T0 }),
      question({ entity: 'pay' }),
      question({ label: 'team', entity: 'shop' }),
      question(),
    ])
      expect(again(harness, asked)).toEqual(afresh(harness, asked))
  })

  it('has the names of its sources as they are now, and nothing of one that is purged', () => {
    const harness = store()
    const { db } = harness.store
    expect(again(harness).text).toContain(' other deployed')
    db.prepare("UPDATE sources SET name = 'ships', version = version + 1 WHERE name = 'other'").run()
    expect(again(harness).text).toContain(' ships deployed')
    db.prepare('INSERT INTO purges (source_id, requested_at) VALUES (?, ?)').run(harness.other, T0)
    const { text } = again(harness)
    expect(text).not.toContain('deployed pay')
    expect(text).toContain('answered')
  })

  it('gives the rows back once nobody asked for a minute', () => {
    const waits: { ms: number; fn: () => void }[] = []
    const kept = new KeptRows(undefined, {
      after: (ms, fn) => {
        const wait = { ms, fn }
        waits.push(wait)
        return () => waits.splice(waits.indexOf(wait), 1)
      },
    })
    const rows = [{ at: 1, number: 1, from: 0, to: 10 } as KeptRow]
    kept.of('service', 'v1')
    kept.keep('service', 'v1', rows)
    // Each look begins the wait anew.
    kept.keep('service', 'v1', rows)
    expect(waits.map(({ ms }) => ms)).toEqual([60_000])
    expect(kept.of('service', 'v1').length).toBe(1)
    waits[0]!.fn()
    expect(kept.of('service', 'v1').length).toBe(0)
  })

  it('keeps the newest where not all has room, of the label that was asked for last', () => {
    const kept = new KeptRows({ rows: 4, bytes: 100 })
    // The third came late: it has the time of the first.
    const row = (number: number, bytes = 10) =>
      ({ number, at: number === 3 ? 1 : number, from: 0, to: bytes }) as KeptRow
    const numbers = (label: string) => kept.of(label, 'v1').map(({ number }) => number)
    expect(numbers('service')).toEqual([])
    kept.keep('service', 'v1', [row(1), row(3), row(2)])
    kept.keep('service', 'v1', [row(2), row(4)])
    expect(numbers('service')).toEqual([1, 3, 2, 4])
    kept.keep('service', 'v1', [row(3), row(2), row(4), row(5), row(6)])
    expect(numbers('service')).toEqual([2, 4, 5, 6])
    kept.keep('host', 'v1', [row(7, 50), row(8, 60)])
    expect([numbers('service'), numbers('host')]).toEqual([[], [8]])
    // What was read while a source got another name is not kept.
    kept.keep('host', 'v0', [row(9)])
    expect(numbers('host')).toEqual([8])
    expect([...kept.of('host', 'v2')]).toEqual([])
  })
})
