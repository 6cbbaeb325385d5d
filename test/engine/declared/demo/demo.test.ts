/** 19, step 8: the demo, with a generator, 90 minutes of history and a scripted model. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DEMO_SOURCES } from '../../../../engine/declared/setup/demo.ts'
import { BREAKABLE, FAULTS } from '../../../../engine/sources/connectors/demo.ts'
import { demoWorld, ME, T0, tablesOf } from './demo-world.ts'

const MINUTE = 60_000

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-demo-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** A source, a trigger that fires, and an agent of somebody who uses svc in earnest. */
async function ownData(engine: ReturnType<typeof demoWorld>['engine']): Promise<void> {
  const { ingest_key: ingestKey } = await engine.createSource(
    {
      name: 'own',
      connector: 'webhook',
      config: { labels: [{ name: 'host', field: 'host', primary: true }] },
    },
    ME,
    false,
  )
  await engine.createTrigger({ name: 'own', sources: ['own'], condition: { event: 'any' } }, ME)
  const body = Buffer.from(JSON.stringify([{ host: 'a' }, { host: 'b' }]))
  await engine.ingest({ ingestKey: ingestKey!, body, bypassCooldown: false, caller: 'open' })
}

describe('npm run demo', () => {
  it('has an open incident at once, with a finding that names the change before the errors, all claims holding', async () => {
    const { engine, rest, incidents, faults } = demoWorld()
    expect(await engine.startDemo(ME)).toMatchObject({
      loaded: true,
      since: new Date(T0).toISOString(),
      services: BREAKABLE,
      faults: [{ service: 'checkout' }],
    })
    await rest()
    const [incident, ...others] = await incidents()
    expect(others).toEqual([])
    expect(incident).toMatchObject({
      state: 'open',
      severity: 'critical',
      entity: { label: 'service', value: 'checkout' },
      headline: 'checkout fails since deploy of checkout v2.4.1',
      claims: { held: 3, total: 3 },
      result: { verdict: 'take_back', next_step: 'Roll back checkout to v2.4.0.', cost_usd: 0 },
    })
    const [run] = (await engine.listRuns({ limit: 9, offset: 0 })).runs
    const { claims, model } = await engine.getRun(run!.id)
    expect(model).toBe('scripted model (demo)')
    const cause = await engine.event(claims[0]!.events[0]!)
    expect([cause.source, cause.text]).toEqual(['demo-deploys', FAULTS.checkout!.change(1)])
    expect(faults).toEqual([])
  })

  it('has 90 minutes of history from seven sources, each labelled as of the demo', async () => {
    const { engine, rest } = demoWorld()
    await engine.startDemo(ME)
    await rest()
    const { rows } = await engine.read({
      sources: DEMO_SOURCES.map(({ name }) => name),
      window: '3h',
      limit: 5_000,
      max_tokens: 1_000_000,
    } as never)
    expect(rows.every(({ labels }) => labels.demo === 'true')).toBe(true)
    for (const { name } of DEMO_SOURCES) {
      const events = await engine.sourceEvents(name, 1_000)
      expect(events.length, name).toBeGreaterThan(3)
    }
    const first = await engine.read({
      sources: ['demo-access-logs'],
      window: '3h',
      limit: 1,
      order: 'asc',
    } as never)
    expect(T0 - Date.parse(first.rows[0]!.event_time)).toBeGreaterThan(85 * MINUTE)
  })

  it.each([
    ['payments', 'checkout fails with it: its requests wait for payments.'],
    ['cart', 'checkout fails with it: its requests wait for cart.'],
    ['search', 'No other service fails with it.'],
  ])(
    'opens an incident within 10 s once %s is broken, whose findings hold, the first handed over, and handles it once that is mended',
    async (service, spread) => {
      const { engine, rest, pass, incidents, faults } = demoWorld()
      await engine.startDemo(ME)
      await rest()
      await pass(2 * MINUTE)
      await engine.breakDemo(service)
      await pass(10_000)
      const opened = (await incidents()).find(({ key }) => key === service)
      expect(opened).toMatchObject({
        state: 'open',
        result: { verdict: 'take_back', chain: ['demo-first-look', 'demo-second-look'] },
        claims: { held: 3, total: 3 },
      })
      const { claims, finding } = await engine.getRun(opened!.result!.run_id)
      expect(claims[2]).toMatchObject({ text: spread, ok: true })
      expect(finding).toContain(spread)
      expect((await engine.event(claims[0]!.events[0]!)).text).toBe(FAULTS[service]!.change(1))
      expect(opened!.result!.next_step).toMatch(/^(Roll back|Set) .+ (to|back to) .+\.$/)
      await engine.mendDemo(service)
      await pass(45_000)
      expect((await incidents('handled')).map(({ key, handled }) => [key, handled?.how])).toEqual([
        [service, 'resolved'],
      ])
      expect((await incidents()).map(({ key }) => key)).toEqual(['checkout'])
      expect(faults).toEqual([])
    },
  )

  it.each(BREAKABLE)('has traces that fail where %s is broken, and as many others', async (service) => {
    const { engine, rest, pass } = demoWorld()
    await engine.startDemo(ME)
    await rest()
    await engine.mendDemo()
    await engine.breakDemo(service)
    await pass(10_000)
    const { span } = FAULTS[service]!
    const failed = (await engine.traces({ service, status: 'error', window: '8s' })).traces[0]!
    const { rows } = await engine.trace({ id: failed.id })
    const wrong = rows.filter(({ status }) => status === 'error')
    expect(wrong.at(-1)).toMatchObject({ service, name: span.name })
    expect(wrong.at(-1)!.text).toContain(span.why)
    expect(wrong[0]).toMatchObject({ depth: 0 })
    const read = await engine.read({ selector: { level: 'ERROR', trace_id: failed.id } })
    expect(read.rows).toHaveLength(wrong.length)
    expect(rows.every(({ is_orphan }) => !is_orphan)).toBe(true)
    const { traces } = await engine.traces({ status: 'ok', window: '30m', limit: 100 })
    expect(traces.length).toBeGreaterThan(30)
    expect(traces[0]!.services.length).toBeGreaterThan(1)
  })

  it('breaks the same service again, with a next release, in a new incident that links the last', async () => {
    const { engine, rest, pass, incidents } = demoWorld()
    await engine.startDemo(ME)
    await rest()
    expect((await engine.mendDemo()).faults).toEqual([])
    await pass(45_000)
    expect(await incidents()).toEqual([])
    await engine.breakDemo('checkout')
    await pass(10_000)
    expect(await incidents()).toMatchObject([
      { id: 'inc_2', previous: 'inc_1', headline: 'checkout fails since deploy of checkout v2.4.2' },
    ])
  })

  it('does nothing twice: a broken service stays as it is, a loaded demo is not loaded again', async () => {
    const { engine } = demoWorld()
    await expect(engine.breakDemo('cart')).rejects.toMatchObject({ code: 'not_found' })
    await expect(engine.mendDemo()).rejects.toMatchObject({ code: 'not_found' })
    await expect(engine.removeDemo(ME)).rejects.toMatchObject({ code: 'not_found' })
    await engine.startDemo(ME)
    const once = await engine.breakDemo('cart')
    expect(await engine.breakDemo('cart')).toEqual(once)
    await expect(engine.startDemo(ME)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('takes no name of another: it is refused, and nothing is made', async () => {
    const { engine } = demoWorld()
    await engine.createSource({ name: 'demo-alerts', connector: 'webhook' }, ME, false)
    await expect(engine.startDemo(ME)).rejects.toThrow('the source demo-alerts is not its own')
    expect((await engine.listSources()).map(({ name }) => name)).toEqual(['demo-alerts'])
    expect((await engine.demoStatus()).loaded).toBe(false)
  })

  it.each(['again after it was removed', 'on an instance with data of its own'])(
    'leaves nothing when it is removed: %s',
    async (how) => {
      const dataFile = join(folder(), 'svc.db')
      const tables = () => tablesOf(dataFile)
      const { engine, rest, pass, incidents, faults } = demoWorld({ dataFile })
      if (how.startsWith('on')) await ownData(engine)
      else {
        await engine.startDemo(ME)
        await rest()
        await engine.removeDemo(ME)
      }
      const before = tables()
      await engine.startDemo(ME)
      await rest()
      await engine.breakDemo('search')
      await pass(20_000)
      await engine.mendDemo('search')
      await pass(45_000)
      const [open] = await incidents()
      await engine.actOnIncident(
        open!.id,
        { action: 'acknowledge', version: open!.version },
        { by: 'mara', via: 'console' },
      )
      await engine.markHandled(open!.project!, open!.result!.run_id, true, ME.caller.name)
      expect(tables()).not.toEqual(before)
      const removed = await engine.removeDemo(ME)
      expect(removed).toMatchObject({ ok: true, incidents: 2, runs: 4 })
      expect(removed.events).toBeGreaterThan(4_000)
      expect(tables()).toEqual(before)
      await pass(10_000)
      expect(tables()).toEqual(before)
      expect((await engine.demoStatus()).loaded).toBe(false)
      const { rows } = await engine.read({ selector: { demo: 'true' }, window: '3h' } as never)
      expect(rows).toEqual([])
      expect(faults).toEqual([])
    },
  )

  it('keeps what is not its own when it is removed: a part added to its project goes to Default', async () => {
    const { engine, rest } = demoWorld()
    const { project } = await engine.startDemo(ME)
    await rest()
    await engine.createSource({ name: 'mine', connector: 'webhook', project: project! }, ME, false)
    await engine.removeDemo(ME)
    expect((await engine.listSources()).map(({ name }) => name)).toEqual(['mine'])
  })

  it('is removed also where one of its agents is not there, as on an instance that loaded it before it had two', async () => {
    const { engine, rest } = demoWorld()
    await engine.startDemo(ME)
    await rest()
    await engine.deleteAgent('demo-second-look', ME)
    await engine.removeDemo(ME)
    expect((await engine.listAgents()).agents).toEqual([])
    expect((await engine.demoStatus()).loaded).toBe(false)
  })

  it('refuses to be removed while a part of somebody else needs one of its own, and says which', async () => {
    const dataFile = join(folder(), 'svc.db')
    const tables = () => tablesOf(dataFile)
    const { engine, rest } = demoWorld({ dataFile })
    await engine.startDemo(ME)
    await rest()
    await engine.createTrigger({ name: 'mine', sources: ['demo-alerts'], condition: { event: 'any' } }, ME)
    const before = tables()
    await expect(engine.removeDemo(ME)).rejects.toThrow(/mine/)
    expect(tables()).toEqual(before)
  })

  it('goes on after a kill between what is declared and the first event, with each event once', async () => {
    const alive = folder()
    const dead = folder()
    const first = demoWorld({ dataFile: join(alive, 'svc.db') })
    // The disk as a kill leaves it right after what is declared was committed.
    first.onSources(() => cpSync(alive, dead, { recursive: true, filter: (path) => !path.endsWith('.lock') }))
    await first.engine.startDemo(ME)
    await first.close()
    const second = demoWorld({ dataFile: join(dead, 'svc.db'), at: T0 + 5_000 })
    expect(await second.engine.sourceEvents('demo-deploys', 1)).toEqual([])
    expect((await second.engine.demoStatus()).loaded).toBe(true)
    await second.pass(3_000)
    const incidents = await second.incidents()
    expect(incidents.map(({ key, state }) => [key, state])).toEqual([['checkout', 'open']])
    const deploys = (await second.engine.sourceEvents('demo-deploys', 1_000)).map(({ text }) => text)
    expect(deploys.filter((text) => text === FAULTS.checkout!.change(1))).toHaveLength(1)
    expect(second.faults).toEqual([])
  })
})
