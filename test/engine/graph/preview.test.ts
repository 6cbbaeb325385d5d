/** What a draft would do: read from a change-set that is rolled back, so that nothing is left of it. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { check } from '../../../schemas/index.ts'
import type { ChangeSetCreate, DraftPreviewRequest } from '../../../schemas/types.ts'
import { BY, openWorld, type World } from '../triggers/trigger-world.ts'

type Operations = DraftPreviewRequest['operations']

let world: World
let folder: string
let project: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-preview-'))
  world = await openWorld({ dataFile: join(folder, 'svc.db') })
  project = (await world.engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY)).id
  await world.trigger({ condition: { event: 'any' }, project })
  await world.engine.createAgent({ name: 'first-look', prompt: 'Look.', project, trigger: 't' } as never, BY)
})
afterEach(async () => {
  await world.engine.close()
  rmSync(folder, { recursive: true })
})

async function preview(operations: Operations, more: Partial<DraftPreviewRequest> = {}) {
  const answer = await world.engine.previewDraft(project, { operations, ...more }, BY)
  expect(check('draft-preview.json', answer)).toBeNull()
  return answer
}

/** Every row of every table. */
function contents(): Record<string, unknown[]> {
  const db = new BetterSqlite3(join(folder, 'svc.db'), { readonly: true })
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all()
  const rows = Object.fromEntries(
    (tables as string[]).map((name) => [name, db.prepare(`SELECT * FROM ${name}`).all()]),
  )
  db.close()
  return rows
}

const ALERTS = { sources: ['app'], condition: { event: 'any' } }
/** Makes, changes, moves and deletes something of each kind. */
const MANY = (): Operations => [
  {
    op: 'put',
    kind: 'source',
    name: 'runbook',
    project,
    spec: { connector: 'reference', config: { attachments: [{ name: 'a', content: 'Restart it.' }] } },
  },
  { op: 'put', kind: 'trigger', name: 'alerts', project, spec: ALERTS },
  { op: 'put', kind: 'agent', name: 'digger', project, spec: { prompt: 'Dig.', webhook_token: 'hidden-1' } },
  { op: 'put', kind: 'skill', name: 'restart', project, spec: { description: 'd', body: 'b' } },
  {
    op: 'patch',
    kind: 'project',
    name: 'Shop',
    spec: {
      wakes: { alerts: { 'first-look': { enabled: true } } },
      handoffs: { 'first-look': { escalate: { digger: { cooldown: '1h' } } } },
    },
  },
  { op: 'move', kind: 'source', name: 'app', event: 'pause' },
  { op: 'delete', kind: 'trigger', name: 't' },
]

describe('a preview', () => {
  it('of nothing is the graph as it is', async () => {
    const { plan, graph, ...rest } = await preview([])
    expect(plan).toMatchObject({ creates: 0, updates: 0, deletes: 0 })
    expect(graph).toEqual(await world.engine.projectGraph(project))
    expect(rest).toMatchObject({ problems: [], conflicts: [], yaml: null, version: graph!.version })
  })

  it('says which parts got another name since its base, and what a part is called now', async () => {
    const { version: base } = await preview([])
    const { change_set: id } = await world.engine.renamePart('agent', 'first-look', 'guard', BY)
    const operations: Operations = [
      { op: 'patch', kind: 'agent', name: 'first-look', spec: { prompt: 'Look closely.' } },
    ]
    expect(await preview(operations, { base })).toMatchObject({
      renamed: [{ change_set: id, kind: 'agent', from: 'first-look', to: 'guard' }],
      problems: [{ operation: 0, message: 'no agent is named first-look; it is called guard now' }],
    })
    expect((await preview(operations, { base: id! })).renamed).toEqual([])
    // By the name of now it is merged as if there had been no rename.
    await world.engine.updateAgent('guard', { model: 'm9' } as never, BY)
    const now = await preview([{ ...operations[0]!, name: 'guard' }], { base })
    expect(now).toMatchObject({ problems: [], conflicts: [], plan: { updates: 1 } })
  })

  it('has the plan that applying has, and the graph as it then is', async () => {
    const previewed = await preview(MANY())
    const applied = await world.engine.applyChangeSet({ operations: MANY() } as ChangeSetCreate, BY)
    expect(previewed.plan).toEqual(applied.plan)
    const then = await world.engine.projectGraph(project)
    expect(previewed.graph!.nodes).toEqual(then.nodes)
    expect(previewed.graph!.edges).toEqual(then.edges)
    expect(previewed.graph!.version).toBeLessThan(then.version)
    expect(JSON.stringify(previewed)).not.toContain('hidden-1')
  })

  it('leaves the whole store as it was, and what memory holds', async () => {
    const before = contents()
    const directory = await world.engine.directory()
    const { pending } = world
    await preview(MANY(), { yaml: true })
    expect(contents()).toEqual(before)
    expect(await world.engine.directory()).toEqual(directory)
    expect(world.pending).toBe(pending)
    // The source was paused and the trigger deleted in the draft alone.
    await world.post({ service: 'cart', type: 'error' })
    expect(await world.firings('t')).toHaveLength(1)
    expect(await world.firings('alerts')).toHaveLength(0)
  })

  it.each<[string, () => Operations]>([
    ['an operation is refused', () => [...MANY(), { op: 'delete', kind: 'agent', name: 'nobody' }]],
    ['the whole is refused', () => [...MANY(), { op: 'delete', kind: 'source', name: 'app' }]],
  ])('leaves nothing where %s', async (_case, operations) => {
    const before = contents()
    const { problems, plan, graph } = await preview(operations(), { yaml: true })
    expect(problems).toHaveLength(1)
    expect([plan, graph]).toEqual([null, null])
    expect(contents()).toEqual(before)
    // And the next write is written.
    await world.engine.applyChangeSet({ operations: MANY() } as ChangeSetCreate, BY)
    expect((await world.engine.listTriggers()).map(({ name }) => name)).toEqual(['alerts'])
  })
})

describe('the problems of a draft', () => {
  it('name the operation, the field and the rule, each', async () => {
    const { problems } = await preview([
      { op: 'put', kind: 'trigger', name: 'a', project, spec: { ...ALERTS, cooldown: 'soon' } },
      { op: 'put', kind: 'agent', name: 'ok', project, spec: { prompt: 'Look.' } },
      { op: 'put', kind: 'agent', name: 'b', project },
      { op: 'move', kind: 'agent', name: 'ok', event: 'pause' },
      { op: 'patch', kind: 'agent', name: 'nobody', spec: {} },
    ])
    expect(problems).toEqual([
      { operation: 0, field: 'cooldown', message: expect.stringContaining('cooldown') },
      { operation: 2, field: 'spec', message: 'spec is required' },
      { operation: 3, field: null, message: 'an agent is not paused; switch its wiring off' },
      { operation: 4, field: null, message: 'no agent is named nobody' },
    ])
  })

  it('leave out what only follows from one of them', async () => {
    const { problems } = await preview([
      { op: 'put', kind: 'agent', name: 'b', project, spec: { prompt: '' } },
      { op: 'patch', kind: 'agent', name: 'b', spec: { prompt: 'Look.' } },
    ])
    expect(problems.map(({ operation }) => operation)).toEqual([0])
  })

  it.each<[string, () => Operations, object]>([
    [
      'a reference to nothing',
      () => [
        { op: 'put', kind: 'skill', name: 's', project, spec: { description: 'd', body: 'b' } },
        { op: 'put', kind: 'trigger', name: 'a', project, spec: { ...ALERTS, sources: ['gone'] } },
      ],
      { operation: 1, field: 'sources', message: 'trigger a: no source is named gone' },
    ],
    [
      'a part that is in use',
      () => [
        { op: 'put', kind: 'skill', name: 's', project, spec: { description: 'd', body: 'b' } },
        { op: 'delete', kind: 'source', name: 'app' },
      ],
      { operation: 1, field: null, message: expect.stringContaining('is read by trigger t') },
    ],
    [
      'a handoff to itself',
      () => [
        { op: 'put', kind: 'skill', name: 's', project, spec: { description: 'd', body: 'b' } },
        {
          op: 'patch',
          kind: 'project',
          name: project,
          spec: { handoffs: { 'first-look': { go: { 'first-look': { cooldown: '1h' } } } } },
        },
      ],
      { operation: 1, field: 'handoffs', message: expect.stringContaining('hand over to itself') },
    ],
  ])('that show once all is staged belong to their operation: %s', async (_case, operations, problem) => {
    expect((await preview(operations())).problems).toEqual([problem])
  })
})

describe('a draft that others overtook', () => {
  it('has the conflicts that applying it has', async () => {
    const { version } = await preview([])
    await world.engine.updateAgent('first-look', { name: 'first-look', prompt: 'Theirs.' } as never, BY)
    const operations: Operations = [
      { op: 'put', kind: 'agent', name: 'first-look', spec: { prompt: 'Mine.' } },
    ]
    const { conflicts, problems, plan } = await preview(operations, { base: version })
    expect(conflicts).toEqual([
      {
        kind: 'agent',
        name: 'first-look',
        path: '/prompt',
        base: 'Look.',
        mine: 'Mine.',
        theirs: 'Theirs.',
      },
    ])
    expect([problems, plan]).toEqual([[], null])
    await expect(
      world.engine.applyChangeSet({ operations, base: version } as ChangeSetCreate, BY),
    ).rejects.toMatchObject({ code: 'conflict', extra: { conflicts } })
  })

  it('is merged where the fields differ', async () => {
    const { version } = await preview([])
    await world.engine.updateAgent(
      'first-look',
      { name: 'first-look', prompt: 'Look.', model: 'm2' } as never,
      BY,
    )
    const { conflicts, plan } = await preview(
      [{ op: 'put', kind: 'agent', name: 'first-look', spec: { prompt: 'Mine.' } }],
      { base: version },
    )
    expect(conflicts).toEqual([])
    expect(plan!.changes).toMatchObject([{ name: 'first-look', fields: [{ path: '/prompt' }] }])
  })
})

describe('the catalog file of a draft', () => {
  const FILE = `# Ours.
sources:
  - name: app # the shop
    connector: webhook
    config: { labels: [] }
triggers:
  # Wakes the agent.
  - name: errors
    sources: [app]
    condition: { event: any }
`

  it('keeps its comments, and its patch applies', async () => {
    await world.engine.importCatalog({ yaml: FILE }, BY)
    const { yaml } = await preview(
      [{ op: 'patch', kind: 'trigger', name: 'errors', spec: { cooldown: '1h' } }],
      { yaml: true },
    )
    expect(yaml).toMatchObject({ path: 'catalog.yaml', before: await world.engine.exportCatalog() })
    expect(yaml!.after).toContain('# Wakes the agent.')
    expect(yaml!.after).toContain('cooldown: 1h')
    writeFileSync(join(folder, 'catalog.yaml'), yaml!.before)
    writeFileSync(join(folder, 'draft.patch'), yaml!.patch)
    execFileSync('git', ['apply', 'draft.patch'], { cwd: folder })
    expect(readFileSync(join(folder, 'catalog.yaml'), 'utf8')).toBe(yaml!.after)
    // What it came to is what is exported once it is applied.
    await world.engine.applyChangeSet(
      { operations: [{ op: 'patch', kind: 'trigger', name: 'errors', spec: { cooldown: '1h' } }] },
      BY,
    )
    expect(await world.engine.exportCatalog()).toBe(yaml!.after)
  })

  it('is the same without a change, and its patch is empty', async () => {
    const { yaml } = await preview([], { yaml: true })
    expect(yaml!.after).toBe(yaml!.before)
    expect(yaml!.patch).toBe('')
  })

  it('is where a change belongs when it is imported at every start', async () => {
    await world.engine.close()
    world = await openWorld({
      dataFile: join(folder, 'svc.db'),
      boot: { sync: true, file: '/etc/shop/shop.yaml' },
    })
    const { graph, yaml } = await preview([], { yaml: true })
    expect(graph!.source_of_truth).toBe('file')
    expect(yaml!.path).toBe('shop.yaml')
  })
})
