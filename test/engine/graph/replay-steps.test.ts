/** 15 B6: a replay gives way to other reads between its steps, and answers as of when it began. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NOW, openSplit, type Split } from '../threads/split.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
/** More than one answer holds; the windows of the trigger are worked out for all of them. */
const ITEMS = 6_000

let svc: Split
let ingestKey = ''

beforeAll(async () => {
  svc = openSplit()
  const { engine } = svc
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const { id: project } = await engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY)
  const source = { name: 'app', connector: 'webhook', config: { labels } }
  ingestKey = (await engine.createSource(source, BY, false)).ingest_key!
  const condition = { aggregate: 'count' as const, window: '1h', predicate: '>= 1000000' }
  await engine.createTrigger({ name: 'many', sources: ['app'], condition, project } as never, BY)
  svc.clock.at += 1_000
  await send(ITEMS)
  svc.clock.at += 1_000
})
afterAll(() => svc.close())

const send = (n: number) =>
  svc.engine.ingest({
    ingestKey,
    body: Buffer.from(JSON.stringify(Array.from({ length: n }, () => ({ service: 'pay' })))),
    bypassCooldown: false,
    caller: 'key:1',
  })

const asked = () => [
  'Shop',
  { from: new Date(NOW + 1_000).toISOString(), to: '2027-01-01T00:00:00Z', limit: 5_000 },
]

it('a replay gives way to short reads, many times, and answers what it would have at once', async () => {
  const { reader, engine, clock } = svc
  const atOnce = (await (engine as unknown as Split['calls']).replay!(...asked())) as { moments: unknown[] }
  expect(atOnce.moments.length).toBeGreaterThanOrEqual(ITEMS)
  let isOver = false
  const wide = reader.replay!(...asked()).finally(() => {
    isOver = true
  })
  await reader.event!('evt_1')
  clock.at += 1_000
  // What is stored meanwhile is not of it.
  await send(1)
  let short = 1
  while (!isOver) {
    await reader.event!('evt_1')
    short++
    // As another message would come: a turn of the event loop later.
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await wide).toEqual(atOnce)
  expect(short).toBeGreaterThan(10)
})
