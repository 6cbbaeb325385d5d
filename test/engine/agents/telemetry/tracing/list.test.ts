/** Runs in the list of traces: found like traces of others, each once, page by page. */
import { afterEach, describe, expect, it } from 'vitest'
import { watchStatements } from '../../../../../engine/log/store/handle.ts'
import { BY, MINUTE } from '../../../triggers/trigger-world.ts'
import { conclude, error, look, openTraceWorld, type TraceWorld } from './trace-world.ts'

let world: TraceWorld
afterEach(() => {
  watchStatements(null)
  return world?.close()
})

/** Two runs that ended at different times: one with a finding, one whose model refused. */
async function twoRuns() {
  world = await openTraceWorld({ enabled: true, endpoint: 'URL', apiKey: 'trace-key-1' })
  const { agent, models, post, traced, engine, pass } = world
  await agent({ name: 'first-look', trigger: 't', prompt: 'Look.', model: 'm1' })
  models.reply('m1', [look, conclude()])
  await post(error)
  const [first] = await traced()
  pass(MINUTE)
  models.reply('m1', () => ({ status: 400 }))
  await post({ ...error, service: 'cart' })
  const second = (await traced()).at(-1)!
  const ids = async (asked: Parameters<typeof engine.traces>[0]) =>
    (await engine.traces(asked)).traces.map(({ id }) => `run_${id}`)
  return { ...world, first: first!, second, ids }
}

describe('the list of traces', () => {
  it('has runs, marked as such, as they are when they are opened', async () => {
    const { engine, first, second } = await twoRuns()
    const { traces, next_to } = await engine.traces({})
    expect(next_to).toBeNull()
    expect(traces.map(({ run }) => run)).toEqual([
      { id: second.id, agent: 'first-look', status: 'failed', is_open: false },
      { id: first.id, agent: 'first-look', status: 'succeeded', is_open: false },
    ])
    expect(traces[1]).toMatchObject({ name: 'first-look', service: 'svc', services: ['svc', 'providera'] })
    for (const one of traces) {
      const { id, began_at, duration_ms, services, spans } = await engine.trace({ id: one.id })
      expect(one).toMatchObject({ id, began_at, duration_ms, services, spans })
    }
    // The call of the model, and the run for it.
    expect(traces.map(({ failed }) => failed)).toEqual([2, 0])
  })

  it('finds them by service, agent, tool, failure, duration, attribute and window', async () => {
    const { ids, first, second } = await twoRuns()
    const both = [second.id, first.id]
    expect(await ids({ service: 'svc' })).toEqual(both)
    expect(await ids({ service: 'here/first-look' })).toEqual([])
    expect(await ids({ service: 'providera' })).toEqual([first.id])
    // A call that nobody answered is no provider's.
    expect(await ids({ service: 'model' })).toEqual([second.id])
    expect(await ids({ service: 'checkout' })).toEqual([])
    expect(await ids({ name: 'FIRST-look' })).toEqual(both)
    expect(await ids({ name: 'read' })).toEqual([first.id])
    expect(await ids({ status: 'error' })).toEqual([second.id])
    expect(await ids({ status: 'ok' })).toEqual([first.id])
    expect(await ids({ min_duration: '1h' })).toEqual([])
    expect(await ids({ attribute: 'svc.key=cart' })).toEqual([second.id])
    expect(await ids({ attribute: 'gen_ai.agent.name=first-look', status: 'ok' })).toEqual([first.id])
    world.pass(30 * MINUTE)
    expect(await ids({ window: '30m' })).toEqual([second.id])
    expect(await ids({ window: '10m' })).toEqual([])
  })

  it('prepares as many statements for a page that looks into two runs as for one that looks into none', async () => {
    const { ids, first, second } = await twoRuns()
    world.pass(MINUTE)
    expect(await ids({ name: 'nothing' })).toEqual([])
    const prepared: string[] = []
    watchStatements((_compile, sql) => void prepared.push(sql))
    expect(await ids({ window: '1s' })).toEqual([])
    const forNone = prepared.splice(0).length
    expect(await ids({ name: 'nothing' })).toEqual([])
    expect(prepared).toHaveLength(forNone)
    expect(await ids({ name: 'look' })).toEqual([second.id, first.id])
  })

  it('leaves out findings of outside agents: they were at work elsewhere', async () => {
    const { ids, first, second, engine, project } = await twoRuns()
    await engine.recordFinding(
      project,
      { entity: 'checkout', label: 'service', finding: 'The pool is exhausted.' },
      'outsider',
      { by: { id: 'open', name: 'op' }, own: false },
    )
    expect(await ids({})).toEqual([second.id, first.id])
  })

  it('narrowed to a project has the runs of the project alone', async () => {
    const { ids, first, second, engine, project } = await twoRuns()
    await engine.createProject({ template: 'custom', name: 'Other', objects: [] }, BY)
    expect(await ids({ project })).toEqual([second.id, first.id])
    expect(await ids({ project: 'Other' })).toEqual([])
  })

  it('goes on page by page, with spans of others between', async () => {
    const { engine, first, second } = await twoRuns()
    const { ingest_key } = await engine.createSource(
      { name: 'otel', connector: 'otlp', config: {} },
      BY,
      false,
    )
    const at = BigInt(Date.parse(first.finished_at!) + 30_000) * 1_000_000n
    const span = {
      ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'GET /cart' },
      ...{ startTimeUnixNano: String(at), endTimeUnixNano: String(at + 5_000_000n) },
    }
    await engine.ingest({
      ingestKey: ingest_key!,
      body: Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })),
      otlp: { signal: 'traces', encoding: 'json' },
      bypassCooldown: false,
      caller: 'open',
    })
    const seen: string[] = []
    let to: string | undefined
    for (let page = 0; page < 4; page++) {
      const answer = await engine.traces({ limit: 1, ...(to ? { to } : {}) })
      seen.push(...answer.traces.map(({ id }) => id))
      if (answer.next_to === null) break
      to = answer.next_to
    }
    expect(seen).toEqual([second.id.slice(4), 'a'.repeat(32), first.id.slice(4)])
  })

  it('has those that ended at one instant on one page', async () => {
    world = await openTraceWorld({ enabled: false })
    const { agent, models, post, settled, engine } = world
    for (const name of ['one', 'two', 'three'])
      await agent({ name, trigger: 't', prompt: 'Look.', model: 'm1' })
    models.reply('m1', () => conclude())
    await post(error)
    await settled()
    const { traces, next_to } = await engine.traces({ limit: 1 })
    expect(traces.map(({ name }) => name).sort()).toEqual(['one', 'three', 'two'])
    expect(next_to).toBeNull()
  })

  it('has a run once that was exported to the instance itself, also by its exported service', async () => {
    const { engine, ids, first, second, receiver } = await twoRuns()
    const { ingest_key } = await engine.createSource(
      { name: 'otel', connector: 'otlp', config: {} },
      BY,
      false,
    )
    const before = await engine.traces({})
    for (const { body } of receiver.requests)
      await engine.ingest({
        ingestKey: ingest_key!,
        body,
        otlp: { signal: 'traces', encoding: 'protobuf' },
        bypassCooldown: false,
        caller: 'open',
      })
    expect((await engine.traces({})).traces).toEqual(before.traces)
    expect(await ids({ service: 'here/first-look' })).toEqual([second.id, first.id])
  })

  it('has a run that is at work on its first page', async () => {
    world = await openTraceWorld({ enabled: false })
    const { agent, models, post, engine, settled } = world
    await agent({ name: 'first-look', trigger: 't', prompt: 'Look.', model: 'm1' })
    const during: Awaited<ReturnType<typeof engine.traces>>[] = []
    models.reply('m1', async () => {
      during.push(await engine.traces({}))
      during.push(await engine.traces({ to: new Date(world.clock.at).toISOString() }))
      return conclude()
    })
    await post(error)
    await settled()
    const [first, older] = during
    expect(first!.traces.map(({ run }) => run)).toMatchObject([{ status: 'running', is_open: true }])
    expect(older!.traces).toEqual([])
  })

  it('has no run that waits for its turn', async () => {
    world = await openTraceWorld({ enabled: false })
    const { agent, post, engine, runner } = world
    await agent({ name: 'first-look', trigger: 't', prompt: 'Look.', model: 'm1' })
    await runner.stop()
    await post(error)
    expect((await engine.listRuns({ limit: 5, offset: 0 })).runs).toMatchObject([{ status: 'queued' }])
    expect((await engine.traces({})).traces).toEqual([])
  })
})
