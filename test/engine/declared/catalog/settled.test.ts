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

it.each([[['Default', 'Two']], [['Two', 'Default']]])(
  'a source of the projects %j is in both, and so it is where its export is imported',
  async (projects) => {
    const open = () => createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
    const [from, to] = [open(), open()]
    const usersIn = async (engine: typeof from) => {
      const names = new Map((await engine.listProjects()).map(({ id, name }) => [id, name]))
      return (await engine.listSources())[0]!.projects.map((id) => names.get(id)).sort()
    }
    const yaml = JSON.stringify({ sources: [{ ...sources[0], projects }], projects: [custom('Two')] })
    await from.importCatalog({ yaml }, BY)
    expect(await usersIn(from)).toEqual(['Default', 'Two'])
    await to.importCatalog({ yaml: await from.exportCatalog() }, BY)
    expect(await usersIn(to)).toEqual(['Default', 'Two'])
  },
)

it('what a paused project stopped and a running one uses stays stopped, whatever else a file says', async () => {
  const engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
  const condition = { aggregate: 'count' as const, predicate: '> 5', window: '5m' }
  const { id } = await engine.createProject(custom('One'), BY)
  const other = await engine.createProject(custom('Two'), BY)
  await engine.createSource({ name: 'xs', connector: 'webhook', project: id }, BY, false)
  await engine.createTrigger({ name: 'xt', sources: ['xs'], condition, project: id }, BY)
  await engine.moveProject(id, 'pause', true, BY)
  const objects = [
    { kind: 'source' as const, name: 'xs' },
    { kind: 'trigger' as const, name: 'xt' },
  ]
  await engine.updateProject(other.id, { objects }, BY)
  const states = async () => [(await engine.getSource('xs')).state, (await engine.getTrigger('xt')).state]
  const skill = JSON.stringify({ skills: [{ name: 'k', description: 'd', body: 'b' }] })
  for (const file of [{ yaml: skill }, { yaml: await engine.exportCatalog() }]) {
    await engine.importCatalog(file, BY)
    expect(await states()).toEqual(['paused', 'paused'])
  }
  // A file that resumes the project starts what it stopped.
  await engine.importCatalog({ yaml: JSON.stringify({ projects: [custom('One', { paused: false })] }) }, BY)
  expect(await states()).toEqual(['active', 'active'])
  await engine.moveProject(id, 'pause', true, BY)
  expect(await states()).toEqual(['active', 'active'])
  engine.close()
})
