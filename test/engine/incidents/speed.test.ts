/** 19, "4,000 firings": the list and Home over 4,000 firings of 500 incidents ask a bounded number of statements. */
import BetterSqlite3 from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { openWorld, type World } from '../triggers/trigger-world.ts'

const FIRINGS = 4_000
const INCIDENTS = 500
/** Enough for a page of 50. */
const FEW = 60

/** @param each firings of each incident */
async function filled(incidents: number, each: number): Promise<World> {
  const world = await openWorld()
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  for (let round = 0; round < each; round++) {
    world.clock.at += 60_000
    await world.post(Array.from({ length: incidents }, (_, i) => ({ service: `s${i}`, type: 'error' })))
  }
  return world
}

const db = new BetterSqlite3(':memory:')
const statement = Object.getPrototypeOf(db.prepare('SELECT 1')) as BetterSqlite3.Statement
db.close()

/** @returns how many statements SQLite ran for it, and the processor time of the quickest of some in milliseconds */
async function costOf(ask: () => Promise<unknown>): Promise<{ statements: number; cpuMs: number }> {
  await ask()
  const ran = (['get', 'all', 'iterate', 'run'] as const).map((way) => vi.spyOn(statement, way))
  await ask()
  const statements = ran.reduce((sum, spied) => sum + spied.mock.calls.length, 0)
  for (const spied of ran) spied.mockRestore()
  const times: number[] = []
  for (let n = 0; n < 5; n++) {
    const from = process.cpuUsage()
    await ask()
    const { user, system } = process.cpuUsage(from)
    times.push((user + system) / 1_000)
  }
  return { statements, cpuMs: Math.min(...times) }
}

async function costsOf({ engine }: World) {
  const sources = await engine.listSources()
  return {
    list50: await costOf(() => engine.listIncidents({ limit: 50 }, null)),
    list200: await costOf(() => engine.listIncidents({ limit: 200 }, null)),
    home: await costOf(() => engine.home(sources)),
    one: await costOf(() => engine.getIncident('inc_1', null)),
  }
}

it('as many as over few incidents, and each less than a second of work', async () => {
  const world = await filled(INCIDENTS, FIRINGS / INCIDENTS)
  const list = await world.engine.listIncidents({ limit: 200 }, null)
  expect(list.incidents).toHaveLength(200)
  expect(list.counts.open.warning).toBe(INCIDENTS)
  expect(list.incidents[0]!.firings).toBe(FIRINGS / INCIDENTS)
  const many = await costsOf(world)
  const few = await costsOf(await filled(FEW, FIRINGS / INCIDENTS))
  if (process.env.SHOW) console.log(JSON.stringify({ few, many }))
  for (const [name, { statements, cpuMs }] of Object.entries(many)) {
    expect(statements, name).toBeGreaterThan(0)
    expect(cpuMs, name).toBeLessThan(1_000)
  }
  const statementsOf = (of: typeof many) =>
    Object.fromEntries(Object.entries(of).map(([name, { statements }]) => [name, statements]))
  expect(statementsOf(many)).toEqual(statementsOf(few))
})
