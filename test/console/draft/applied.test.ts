/** Every action of the editor against the real engine: what it writes, and that the console foresees it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copied, pasteCopies, pasteShared } from '../../../console/graph/draft/clipboard.ts'
import { connect } from '../../../console/graph/draft/connect.ts'
import {
  correcting,
  type Draft,
  newDraft,
  operationsOf,
  refusedSteps,
  type Step,
  undone,
  withoutStep,
  withStep,
} from '../../../console/graph/draft/draft.ts'
import { changeHandoff, disconnect, switchWake } from '../../../console/graph/draft/edges.ts'
import { foreseen } from '../../../console/graph/draft/foresee.ts'
import type { PartRef } from '../../../console/graph/draft/ids.ts'
import {
  addExisting,
  addNew,
  deleteParts,
  editPart,
  leaveProject,
  pausePart,
} from '../../../console/graph/draft/parts.ts'
import { rebased } from '../../../console/graph/draft/rebase.ts'
import { createEngine } from '../../../engine/local.ts'
import type { ProjectGraph } from '../../../schemas/types.ts'
import { edgeOf } from './graphs.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'console' as const }
const condition = { aggregate: 'count' as const, predicate: '> 5', window: '5m' }
const verdicts = [{ verdict: 'dig' }, { verdict: 'page' }]

let engine: ReturnType<typeof createEngine>
let project: string
let home: string
beforeEach(async () => {
  engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 } })
  project = (await engine.createProject({ template: 'custom', name: 'Shop' }, BY)).id
  for (const name of ['gw', 'db'])
    await engine.createSource({ name, connector: 'webhook', project }, BY, false)
  await engine.createSource({ name: 'loose', connector: 'webhook' }, BY, false)
  await engine.createMcpServer({ name: 'tickets', url: 'https://tickets.example/mcp', project }, BY)
  await engine.createTrigger({ name: 'errs', sources: ['gw'], condition, project }, BY)
  await engine.createTrigger({ name: 'slow', sources: ['gw', 'db'], condition, project }, BY)
  await engine.createAgent({ name: 'triage', prompt: 'Look.', verdicts, project } as never, BY)
  const tools = [{ server: 'tickets', tool: '*' }]
  const digger = { name: 'digger', prompt: 'Dig.', mcp_servers: ['tickets'], tools, project }
  await engine.createAgent(digger as never, BY)
  await engine.wireProject(
    project,
    {
      wakes: [{ trigger: 'errs', agent: 'triage', enabled: true }],
      handoffs: [{ agent: 'triage', verdict: 'dig', to: 'digger', cooldown: '30m' }],
    },
    BY,
  )
  home = (await engine.listProjects()).find((one) => one.default)!.id
})
afterEach(() => engine.close())

const graphNow = (): Promise<ProjectGraph> => engine.projectGraph(project)

/** What is wired, and what is paused: the rest of a graph is live state and words. */
const shape = ({ nodes, edges }: ProjectGraph) => ({
  nodes: nodes.map(({ id, state, verdicts: words }) => [id, state === 'paused', words]),
  edges: edges.map(({ id, enabled, verdict, cooldown }) => [id, enabled, verdict, cooldown]),
})

type Make = (graph: ProjectGraph) => Step
const link = (from: string, to: string, verdict: string | null = null) => ({ from, to, verdict })
const digger: PartRef = { kind: 'agent', name: 'digger' }
const wiki: PartRef = { kind: 'mcp_server', name: 'wiki' }

const ACTIONS: Record<string, Make> = {
  'feeds a trigger': (graph) => connect(graph, link('source:db', 'trigger:errs')),
  'wakes an agent': (graph) => connect(graph, link('trigger:slow', 'agent:digger')),
  'hands over': (graph) => connect(graph, link('agent:triage', 'agent:digger', 'page')),
  'works with a server': (graph) => connect(graph, link('agent:triage', 'mcp_server:tickets')),
  'switches a wake off': (graph) => switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), false),
  'changes a wait': (graph) =>
    changeHandoff(graph, edgeOf(graph, 'hands_off:triage/dig>digger'), { cooldown: '2h' })!,
  'changes a verdict': (graph) =>
    changeHandoff(graph, edgeOf(graph, 'hands_off:triage/dig>digger'), { verdict: 'page' })!,
  disconnects: (graph) =>
    disconnect(
      graph,
      ['feeds:db>slow', 'wakes:errs>triage', 'uses:digger>tickets'].map((id) => edgeOf(graph, id)),
      () => [{ server: 'tickets', tool: '*' }],
    ),
  'adds a part out of Default': (graph) =>
    addExisting(graph, [{ kind: 'source', name: 'loose', movesFrom: home }]),
  'makes a part': (graph) => addNew(graph, wiki, { url: 'https://wiki.example/mcp' }),
  'edits a part': () =>
    editPart(digger, { prompt: 'Dig.', verdicts: [] }, { prompt: 'Dig deep.', verdicts })!,
  'pauses a part': () => pausePart({ kind: 'trigger', name: 'slow' }, 'pause'),
  'takes parts out': (graph) => leaveProject(graph, ['trigger:slow', 'source:db'], new Set()),
  'deletes a part': (graph) => deleteParts(graph, ['agent:digger']),
  'pastes copies': (graph) =>
    pasteCopies(
      graph,
      copied(graph, ['trigger:errs', 'agent:triage'])!,
      ({ kind }) => ({
        spec: kind === 'trigger' ? { sources: ['gw'], condition } : { prompt: 'Look.', verdicts },
        secretFields: [],
      }),
      new Set(graph.nodes.map(({ id }) => id)),
    ).step,
}

describe('an action of the editor', () => {
  it.each(Object.entries(ACTIONS))(
    '%s: as the console foresees it, and as a change that is undone',
    async (_name, make) => {
      const before = await engine.exportCatalog()
      const graph = await graphNow()
      const { operations } = make(graph)
      const {
        problems,
        conflicts,
        graph: previewed,
      } = await engine.previewDraft(project, { base: graph.version, operations: [...operations] }, BY)
      expect({ problems, conflicts }).toEqual({ problems: [], conflicts: [] })
      expect(shape(foreseen(graph, operations))).toEqual(shape(previewed!))
      const applied = await engine.applyChangeSet({ base: graph.version, operations: [...operations] }, BY)
      expect(shape(await graphNow())).toEqual(shape(previewed!))
      const after = await engine.exportCatalog()
      expect(after).not.toBe(before)
      await engine.undoChangeSet(applied.change_set!, false, BY)
      expect(await engine.exportCatalog()).toBe(before)
    },
  )

  it('leaves nothing when a new part is wired and taken out again', async () => {
    const before = await engine.exportCatalog()
    let graph = await graphNow()
    let draft = newDraft(graph.version)
    const take = (step: Step) => {
      draft = withStep(draft, step)
      graph = foreseen(graph, step.operations)
    }
    take(addNew(graph, { kind: 'agent', name: 'new' }, { prompt: 'New.' }))
    take(connect(graph, link('trigger:slow', 'agent:new')))
    take(leaveProject(graph, ['agent:new'], new Set(['agent:new'])))
    await engine.applyChangeSet({ base: draft.base, operations: operationsOf(draft) }, BY)
    expect(await engine.exportCatalog()).toBe(before)
  })

  it('shares parts with another project, wired as they were', async () => {
    const other = (await engine.createProject({ template: 'custom', name: 'Other' }, BY)).id
    const found = copied(await graphNow(), ['agent:triage', 'agent:digger', 'trigger:errs'])!
    const { operations } = pasteShared(await engine.projectGraph(other), found)
    await engine.applyChangeSet({ operations: [...operations] }, BY)
    const { wiring, objects } = await engine.getProject(other)
    expect(wiring).toEqual((await engine.getProject(project)).wiring)
    expect(objects.map(({ name }) => name).sort()).toEqual(['digger', 'errs', 'gw', 'tickets', 'triage'])
  })
})

describe('a draft that meets another writer', () => {
  it.each(['mine', 'theirs'] as const)('goes on from their version and keeps %s', async (side) => {
    const graph = await graphNow()
    const edge = edgeOf(graph, 'hands_off:triage/dig>digger')
    const draft = [
      changeHandoff(graph, edge, { cooldown: '1h' })!,
      switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), false),
    ].reduce(withStep, newDraft(graph.version))
    await engine.applyChangeSet(
      { operations: [...changeHandoff(graph, edge, { cooldown: '2h' })!.operations] },
      { ...BY, caller: { id: 'key:2', name: 'otto' } },
    )
    const ask = (of: typeof draft) =>
      engine.previewDraft(project, { base: of.base, operations: operationsOf(of) }, BY)
    const { conflicts, version } = await ask(draft)
    expect(conflicts.map(({ path, mine, theirs }) => [path, mine, theirs])).toEqual([
      ['/handoffs/triage/dig/digger/cooldown', '1h', '2h'],
    ])
    const key = `project:Shop${conflicts[0]!.path}`
    const next = rebased(draft, version, conflicts, new Map([[key, side]]))
    expect((await ask(next)).conflicts).toEqual([])
    await engine.applyChangeSet({ base: next.base, operations: operationsOf(next) }, BY)
    expect((await engine.getProject(project)).wiring).toEqual({
      wakes: [{ trigger: 'errs', agent: 'triage', enabled: false }],
      handoffs: [{ agent: 'triage', verdict: 'dig', to: 'digger', cooldown: side === 'mine' ? '1h' : '2h' }],
    })
  })
})

describe('a step that is refused', () => {
  const agent: PartRef = { kind: 'agent', name: 'new' }
  const bad = [{ verdict: 'dig deeper' }]
  const problemsIn = async (draft: Draft) =>
    (await engine.previewDraft(project, { base: draft.base, operations: operationsOf(draft) }, BY)).problems
  /** As the editor takes a step: with what the daemon refused so far. */
  const taken = async (draft: Draft, step: Step): Promise<Draft> =>
    withStep(draft, correcting(step, refusedSteps(draft, await problemsIn(draft))))
  const begun = async (): Promise<Draft> => newDraft((await graphNow()).version)

  it('of a part that is there is made good by what says the field anew, and undone for itself', async () => {
    const triage: PartRef = { kind: 'agent', name: 'triage' }
    const refused = await taken(await begun(), editPart(triage, { verdicts }, { verdicts: bad })!)
    expect(await problemsIn(refused)).toMatchObject([{ operation: 0 }])
    const again = await taken(
      refused,
      editPart(triage, { verdicts: bad }, { verdicts: [{ verdict: 'no no' }] })!,
    )
    expect(await problemsIn(again)).toMatchObject([{ operation: 0 }])
    const good = await taken(again, editPart(triage, { verdicts: bad }, { verdicts: [{ verdict: 'dig' }] })!)
    expect(await problemsIn(good)).toEqual([])
    expect(await problemsIn(undone(good))).toHaveLength(1)
    // What corrected the one that is gone corrects what that one did.
    expect(await problemsIn(withoutStep(good, 1))).toEqual([])
    await engine.applyChangeSet({ base: good.base, operations: operationsOf(good) }, BY)
    expect((await engine.getAgent('triage')).verdicts).toMatchObject([{ verdict: 'dig' }])
  })

  it('of a new part is made good without making the part anew, what was wired since included', async () => {
    const graph = await graphNow()
    const made = addNew(graph, agent, { prompt: 'New.', verdicts: bad })
    let draft = await taken(await begun(), made)
    const drawn = foreseen(graph, made.operations)
    draft = await taken(draft, connect(drawn, link('trigger:slow', 'agent:new')))
    draft = await taken(draft, editPart(agent, { verdicts: bad }, { verdicts: [{ verdict: 'dig' }] })!)
    expect(await problemsIn(draft)).toEqual([])
    await engine.applyChangeSet({ base: draft.base, operations: operationsOf(draft) }, BY)
    expect((await engine.getProject(project)).wiring.wakes).toContainEqual(
      expect.objectContaining({ trigger: 'slow', agent: 'new' }),
    )
  })

  it('of a new part is gone with the part', async () => {
    const graph = await graphNow()
    const made = addNew(graph, agent, { prompt: 'New.', verdicts: bad })
    const draft = await taken(await begun(), made)
    const out = leaveProject(foreseen(graph, made.operations), ['agent:new'], new Set(['agent:new']))
    expect(await problemsIn(await taken(draft, out))).toEqual([])
  })

  it('of a connection is made good by what says the same of it', async () => {
    const graph = await graphNow()
    const edge = edgeOf(graph, 'hands_off:triage/dig>digger')
    const other = await taken(await begun(), switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), false))
    const wrong = await taken(other, changeHandoff(graph, edge, { cooldown: 'soon' })!)
    expect(await problemsIn(wrong)).toHaveLength(1)
    const wake = switchWake(graph, edgeOf(graph, 'wakes:errs>triage'), true)
    const good = await taken(await taken(wrong, wake), changeHandoff(graph, edge, { cooldown: '10m' })!)
    expect(await problemsIn(good)).toEqual([])
    expect(operationsOf(good)).toHaveLength(3)
    // Steps are told by their place: which is another where one before them goes.
    expect(await problemsIn(withoutStep(good, 0))).toEqual([])
  })
})
