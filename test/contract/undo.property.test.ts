import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { longOr } from '../chaos/scale.ts'
import { type Instance, startInstance } from './instance.ts'
import { changedPaths, type Leaves, leavesOf, sorted, withLeaves, withPauses } from './world.ts'

const condition = { aggregate: 'count', predicate: '> 5', window: '5m' }
const RUNS = longOr(25, 8)
/** How many of the last change-sets are undone, one by one. */
const LAST = 4

/** Change-sets that each change a field of their own, so that every one of them is free to be undone. */
const ALL_FREE: object[][] = [
  [{ op: 'patch', kind: 'trigger', name: 't1', spec: { cooldown: '1h' } }],
  [{ op: 'patch', kind: 'agent', name: 'a1', spec: { prompt: 'Ask.' } }],
  [{ op: 'patch', kind: 'skill', name: 's', spec: { body: 'bb' } }],
  [{ op: 'patch', kind: 'project', name: 'Two', spec: { goal: 'h' } }],
]

interface Step {
  id: number
  before: Leaves
  after: Leaves
}

const oneOf = fc.constantFrom
const trigger = oneOf('t1', 't2')
const agent = oneOf('a1', 'a2', 'a3')
const project = oneOf('One', 'Two')
const patch = (kind: string, name: fc.Arbitrary<string>, specs: fc.Arbitrary<object>) =>
  fc.record({ op: fc.constant('patch'), kind: fc.constant(kind), name, spec: specs })
const field = (name: string, ...values: unknown[]) => oneOf(...values).map((value) => ({ [name]: value }))

const operation = fc.oneof(
  patch(
    'trigger',
    trigger,
    fc.oneof(
      field('cooldown', '1m', '5m', '1h'),
      field('description', 'it breaks', 'it stops', null),
      field('condition', { window: '1m' }, { window: '5m' }, { predicate: '> 9' }),
    ),
  ),
  patch(
    'agent',
    agent,
    fc.oneof(
      field('prompt', 'Look.', 'Dig.', 'Ask.'),
      field('budget_usd', 1, 2, null),
      field('mcp_servers', ['m'], null),
    ),
  ),
  patch('skill', fc.constant('s'), fc.oneof(field('description', 'x', 'y'), field('body', 'b', 'bb'))),
  patch('project', project, field('goal', 'g', 'h', null)),
  patch(
    'project',
    project,
    fc
      .tuple(trigger, agent, oneOf({ enabled: true }, { enabled: false }, null))
      .map(([on, who, wake]) => ({ wakes: { [on]: { [who]: wake } } })),
  ),
  fc.record({
    op: fc.constant('put'),
    kind: fc.constant('agent'),
    name: agent,
    spec: field('prompt', 'New.', 'Newer.'),
    project,
  }),
  fc.record({ op: fc.constant('delete'), kind: fc.constant('agent'), name: agent }),
  fc.record({
    op: fc.constant('move'),
    kind: fc.constant('project'),
    name: project,
    event: oneOf('pause', 'resume'),
  }),
)
const changeSets = fc.array(fc.array(operation, { minLength: 1, maxLength: 3 }), {
  minLength: 2,
  maxLength: 8,
})

async function world(): Promise<Instance> {
  const svc = await startInstance()
  for (const name of ['One', 'Two']) await svc.post('/api/projects', { template: 'custom', name })
  await svc.post('/api/sources', { name: 'gw', connector: 'webhook', project: 'One' })
  await svc.post('/api/mcp-servers', { name: 'm', url: 'https://m.example/', project: 'One' })
  for (const name of ['t1', 't2'])
    await svc.post('/api/triggers', { name, sources: ['gw'], condition, project: 'One' })
  await svc.post('/api/agents/builtin', { name: 'a1', prompt: 'Look.', trigger: 't1', project: 'One' })
  await svc.post('/api/agents/builtin', { name: 'a2', prompt: 'Dig.', project: 'Two' })
  await svc.post('/api/projects/One/skills', { name: 's', description: 'x', body: 'b' })
  await svc.post('/api/projects/Two/skills/s/use')
  return svc
}

/** Applies what is accepted. @returns one step for each change-set that changed something. */
async function play(svc: Instance, sets: object[][]): Promise<Step[]> {
  const steps: Step[] = []
  let before = await leavesOf(svc)
  for (const operations of sets) {
    const { status, body } = await svc.call<{ change_set: number | null }>('POST', '/api/change-sets', {
      operations,
    })
    if (status !== 200 || body.change_set === null) continue
    const after = await leavesOf(svc)
    steps.push({ id: body.change_set, before, after })
    before = after
  }
  return steps
}

/** Whether everything that is wired is there: a state that breaks this is refused, whoever asks for it. */
function holdsTogether(leaves: Leaves): boolean {
  const agents = new Set([...leaves.keys()].filter((path) => path.startsWith('agent/')).map(nameOf))
  return [...leaves.keys()].every((path) => {
    const [, , field, , who] = path.split('/')
    return field !== 'wakes' || agents.has(who!)
  })
}
const nameOf = (path: string): string => path.split('/')[1]!

async function withWorld(sets: object[][], prove: (svc: Instance, steps: Step[]) => Promise<void>) {
  const svc = await world()
  try {
    const steps = await play(svc, sets)
    if (steps.length > 0) await prove(svc, steps)
  } finally {
    await svc.stop()
  }
}

describe('after any sequence of change-sets', () => {
  it('undoing one of the last restores exactly the fields it changed, if nobody changed them since; undoing the undo brings them back', async () => {
    let restored = 0
    await fc.assert(
      fc.asyncProperty(changeSets, (sets) =>
        withWorld(sets, async (svc, steps) => {
          const now = steps.at(-1)!.after
          for (const { id, before, after } of steps.slice(-LAST)) {
            const paths = changedPaths(before, after)
            const isFree = paths.every((path) => now.get(path) === after.get(path))
            const expected = withLeaves(now, before, paths)
            const answer = await svc.call<{ change_set: number; detail: string }>(
              'POST',
              `/api/change-sets/${id}/undo`,
              {},
            )
            const then = await leavesOf(svc)
            if (answer.status !== 200) {
              expect(isFree && holdsTogether(expected), answer.text).toBe(false)
              expect(sorted(then, true)).toEqual(sorted(now, true))
              continue
            }
            if (isFree && holdsTogether(expected)) {
              expect(sorted(then, false)).toEqual(sorted(withPauses(expected, then), false))
              restored++
            }
            if (answer.body.change_set === null) continue
            await svc.post(`/api/change-sets/${answer.body.change_set}/undo`, {})
            expect(sorted(await leavesOf(svc), true)).toEqual(sorted(now, true))
          }
        }),
      ),
      // How many of those by chance are free depends on the seed; these are, or this proved nothing.
      { numRuns: RUNS, examples: [[ALL_FREE]] },
    )
    expect(restored).toBeGreaterThanOrEqual(LAST)
  })

  it('rolling back to a version equals the state at that version, and undoing that equals the state before', async () => {
    await fc.assert(
      fc.asyncProperty(changeSets, fc.nat(), (sets, pick) =>
        withWorld(sets, async (svc, steps) => {
          const now = steps.at(-1)!.after
          const { id, after } = steps[pick % steps.length]!
          const { change_set } = await svc.post<{ change_set: number | null }>(
            `/api/change-sets/${id}/rollback`,
            {},
          )
          expect(sorted(await leavesOf(svc), true)).toEqual(sorted(after, true))
          if (change_set === null) return
          await svc.post(`/api/change-sets/${change_set}/undo`, {})
          expect(sorted(await leavesOf(svc), true)).toEqual(sorted(now, true))
        }),
      ),
      { numRuns: RUNS },
    )
  })
})
