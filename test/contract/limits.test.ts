/** Numbers of SPEC.md and of the reference: what is right at a limit is taken, and one past it is refused by name. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Fields, type Instance, startInstance } from './instance.ts'

let svc: Instance
beforeAll(async () => {
  svc = await startInstance()
  await svc.post('/api/sources', { name: 'gw', connector: 'webhook' })
  await svc.post(AGENT, { name: 'second', prompt: 'Dig.' })
})
afterAll(() => svc?.stop())

const TRIGGER = '/api/triggers'
const AGENT = '/api/agents/builtin'
const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }
const trigger = (fields: Fields) => ({ sources: ['gw'], condition, ...fields })
const agent = (fields: Fields) => ({ prompt: 'Look.', concludes: true, ...fields })
const x = (n: number) => 'x'.repeat(n)
const some = <T>(n: number, one: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => one(i))
const among = (n: number) => [{ field: 'order', op: 'in', value: some(n, (i) => `v${i}`) }]
const verdicts = (n: number) => some(n, (i) => ({ verdict: `v${'abcdefghijk'[i]}` }))
const handoffs = (n: number) => some(n, (i) => ({ verdict: `v${'abcdefghijk'[i]}`, agent: 'second' }))

let made = 0

it.each<[path: string, at: Fields, past: Fields, said: string]>([
  [
    TRIGGER,
    trigger({ description: x(160) }),
    trigger({ description: x(161) }),
    'description must have at most 160 characters',
  ],
  [
    TRIGGER,
    trigger({ filters: among(100) }),
    trigger({ filters: among(101) }),
    'filters[0].value must have at most 100 entries',
  ],
  [
    TRIGGER,
    trigger({ filters: among(1) }),
    trigger({ filters: among(0) }),
    'filters[0].value must not be empty',
  ],
  [
    TRIGGER,
    trigger({ condition: { every: '60s' } }),
    trigger({ condition: { every: '59s' } }),
    'condition.every must be at least 60s',
  ],
  [AGENT, agent({ max_rounds: 1 }), agent({ max_rounds: 0 }), 'max_rounds must be at least 1'],
  [AGENT, agent({ max_rounds: 24 }), agent({ max_rounds: 25 }), 'max_rounds must be at most 24'],
  [AGENT, agent({ daily_cap: 1 }), agent({ daily_cap: 0 }), 'daily_cap must be at least 1'],
  [AGENT, agent({ daily_cap: 10_000 }), agent({ daily_cap: 10_001 }), 'daily_cap must be at most 10000'],
  [
    AGENT,
    agent({ verdicts: verdicts(10) }),
    agent({ verdicts: verdicts(11) }),
    'verdicts must have at most 10 entries',
  ],
  [
    AGENT,
    agent({ verdicts: [{ verdict: 'v', when: x(300) }] }),
    agent({ verdicts: [{ verdict: 'v', when: x(301) }] }),
    'verdicts[0].when must have at most 300 characters',
  ],
  [
    AGENT,
    agent({ verdicts: verdicts(10), handoffs: handoffs(10) }),
    agent({ verdicts: verdicts(10), handoffs: handoffs(11) }),
    'handoffs must have at most 10 entries',
  ],
])('POST %s takes what is at its limit and refuses what is past it: %#', async (path, at, past, said) => {
  const name = `one-${made++}`
  expect(await svc.refused('POST', path, { name, ...past })).toEqual([400, said])
  expect((await svc.call('POST', path, { name, ...at })).status).toBe(201)
})
