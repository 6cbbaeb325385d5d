/** What two files in a row leave is settled by the second: applied again, it is no change. */
import { expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const sources = ['s1', 's2'].map((name) => ({ name, connector: 'webhook' }))
const trigger = (name: string, more: object) => ({
  name,
  sources: ['s1'],
  condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
  ...more,
})
const custom = (name: string, more: object = {}) => ({ template: 'custom', name, ...more })

/** Applies one catalog after the other, pruning, and plans the second again. */
async function settled(first: object, second: object) {
  const engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
  await engine.importCatalog({ yaml: JSON.stringify(first) }, BY)
  const to = { yaml: JSON.stringify(second), prune: true, allow_empty: true, max_deletions: 99 }
  await engine.importCatalog(to, BY)
  const { plan, problems } = await engine.checkCatalog(to)
  expect(problems).toEqual([])
  return plan!.changes.filter(({ action }) => action !== 'none')
}

it('a trigger that its own entry pauses leaves no note with the paused project that takes it over', async () => {
  const before = {
    sources,
    triggers: [trigger('t', { project: 'One' })],
    projects: [custom('One', { paused: true })],
  }
  const after = {
    sources,
    triggers: [trigger('t', { project: 'Two', paused: true })],
    projects: [custom('Two', { paused: true })],
  }
  expect(await settled(before, after)).toEqual([])
})

it('the note of a trigger that two paused projects share stays with one of them', async () => {
  const agents = (project: string) => [{ name: 'a', prompt: 'Look.', project, trigger: 't' }]
  const before = {
    sources,
    triggers: [trigger('t', {})],
    agents: agents('Two'),
    projects: [custom('Two', { paused: true })],
  }
  const watch = {
    template: 'webhook_watch',
    name: 'Watch',
    params: { service: 'checkout' },
    paused: true,
  }
  const after = { ...before, agents: agents('Watch'), projects: [custom('Two', { paused: true }), watch] }
  expect(await settled(before, after)).toEqual([])
})

it('a source that one custom project no longer lists belongs to the other that does', async () => {
  const before = { sources: [{ ...sources[0], projects: ['Two'] }], projects: [custom('Two')] }
  const after = {
    sources: [sources[0]],
    projects: [custom('One', { objects: [{ kind: 'source', name: 's1' }] }), custom('Two')],
  }
  expect(await settled(before, after)).toEqual([])
})
