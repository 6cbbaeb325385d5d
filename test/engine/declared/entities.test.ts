/** Joined entities as they are declared: by calls, change-sets and the catalog (docs/entities.md). */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: names refer to groups so
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
const API = {
  kind: 'service',
  is: ['service=api', 'repo=org/api', 'host=10.0.0.4'],
  owned_by: ['team=payments'],
}
const SOURCE = {
  name: 'app',
  connector: 'webhook',
  config: {
    labels: [
      { name: 'service', field: 'service', primary: true },
      { name: 'host', field: 'host' },
    ],
  },
}

/** @param step of the clock at each look, milliseconds */
async function open(step = 1) {
  let now = 1_800_000_000_000
  const clock = {
    now: () => {
      now += step
      return now
    },
  }
  const engine = createEngine({ dataFile: null, clock })
  await engine.importCatalog({ yaml: JSON.stringify({ sources: [SOURCE] }) }, BY)
  return engine
}
type World = Awaited<ReturnType<typeof open>>

const exported = async (engine: World) => JSON.parse(await engine.exportCatalog(undefined, 'json'))

describe('a joined entity', () => {
  it('is made, read, replaced and deleted, each as a change-set that can be undone', async () => {
    const engine = await open()
    const made = await engine.createJoinedEntity({ name: 'api', ...API }, BY)
    expect(made).toMatchObject({ ok: true, name: 'api' })
    expect(await engine.getJoinedEntity('api')).toMatchObject({
      name: 'api',
      ...API,
      groups: [],
      version: made.version,
    })
    await engine.updateJoinedEntity('api', { is: ['service=api', 'repo=org/api'] }, BY)
    const gone = await engine.deleteJoinedEntity('api', BY)
    expect(gone.deleted).toEqual(['entity:api'])
    expect(await engine.listJoinedEntities()).toEqual({ entities: [] })
    await engine.undoChangeSet(gone.change_set, false, BY)
    expect((await engine.getJoinedEntity('api')).is).toEqual(['service=api', 'repo=org/api'])
    const { change_sets } = await engine.listChangeSets({ kind: 'entity', name: 'api', limit: 10 })
    expect(change_sets.map(({ summary }) => summary.split(' ')[0])).toHaveLength(4)
  })

  it('is refused with the field and the rule, and with both of a conflict', async () => {
    const engine = await open()
    await engine.createJoinedEntity({ name: 'api', ...API }, BY)
    await expect(engine.createJoinedEntity({ name: 'api', ...API }, BY)).rejects.toThrow(
      'an entity named api exists',
    )
    await expect(engine.createJoinedEntity({ name: 'a b', ...API }, BY)).rejects.toThrow(
      /name of an entity must be/,
    )
    await expect(engine.createJoinedEntity({ name: 'web', is: ['service=web', 'host'] }, BY)).rejects.toThrow(
      /is\[1\] must be label=value/,
    )
    await expect(
      engine.createJoinedEntity({ name: 'web', is: ['service=web', 'host=10.0.0.4'] }, BY),
    ).rejects.toThrow('host=10.0.0.4 is a name of entity api and of entity web; it can be of one')
    await expect(engine.updateJoinedEntity('web', API, BY)).rejects.toThrow('no entity is named web')
    expect((await engine.listJoinedEntities()).entities).toHaveLength(1)
  })

  it('gets another name as one change that is undone: its names stay joined, and its past is found by the new one', async () => {
    const engine = await open()
    await engine.createJoinedEntity({ name: 'api', ...API }, BY)
    await engine.createJoinedEntity({ name: 'web', is: ['service=web', 'repo=org/web'] }, BY)
    const joinedBy = async (as_of?: string) =>
      (await engine.read({ selector: { host: '10.0.0.4' }, ...(as_of ? { as_of } : {}) })).joined
    const before = (await joinedBy())![0]!
    const renamed = await engine.renameJoinedEntity('api', 'backend', BY)
    expect(renamed.name).toBe('backend')
    expect(await engine.getJoinedEntity('backend')).toMatchObject({ name: 'backend', ...API })
    await expect(engine.getJoinedEntity('api')).rejects.toThrow('no entity is named api')
    expect((await joinedBy())![0]).toEqual({ ...before, entity: 'backend' })
    const { change_sets } = await engine.listChangeSets({ kind: 'entity', name: 'backend', limit: 10 })
    expect(change_sets).toHaveLength(2)
    await expect(engine.renameJoinedEntity('backend', 'web', BY)).rejects.toThrow(/web/)
    await expect(engine.renameJoinedEntity('backend', 'a b', BY)).rejects.toThrow(/name of an entity must be/)
    await expect(engine.updateJoinedEntity('backend', { name: 'other', ...API }, BY)).rejects.toThrow(
      'name must equal the name in the path; for another name POST /api/entities/joined/backend/rename, or svc entities rename',
    )
    await engine.undoChangeSet(renamed.change_set!, false, BY)
    expect(await engine.getJoinedEntity('api')).toMatchObject({ name: 'api', ...API })
  })

  it('is an operation of change-sets like any part, but of no project', async () => {
    const engine = await open()
    const put = { op: 'put', kind: 'entity', name: 'api', spec: API } as const
    const { plan } = await engine.applyChangeSet({ operations: [put], dry_run: true }, BY)
    expect(plan.changes).toMatchObject([{ action: 'create', kind: 'entity', name: 'api' }])
    await engine.applyChangeSet({ operations: [put] }, BY)
    await engine.applyChangeSet(
      { operations: [{ op: 'patch', kind: 'entity', name: 'api', spec: { kind: 'backend' } }] },
      BY,
    )
    expect(await engine.getJoinedEntity('api')).toMatchObject({ ...API, kind: 'backend' })
    await expect(
      engine.applyChangeSet(
        { operations: [{ op: 'move', kind: 'entity', name: 'api', event: 'pause' }] },
        BY,
      ),
    ).rejects.toThrow(/an entity is not paused/)
  })

  it('joins reads at once, and undoing it gives the same bytes as before', async () => {
    const engine = await open(0)
    const source = await engine.getSource('app')
    const body = Buffer.from(JSON.stringify([{ service: 'api' }, { host: '10.0.0.4' }]))
    await engine.ingest({ ingestKey: source.ingest_key!, body, bypassCooldown: false, caller: 'open' })
    const read = async () => JSON.stringify(await engine.read({ selector: { service: 'api' } }))
    const before = await read()
    const { change_set } = await engine.createJoinedEntity({ name: 'api', ...API }, BY)
    expect(JSON.parse(await read()).rows).toHaveLength(2)
    await engine.undoChangeSet(change_set!, false, BY)
    expect(await read()).toBe(before)
    expect(JSON.parse(before).rows).toHaveLength(1)
  })
})

describe('a live tail', () => {
  it('has the events of all names, from the moment they are joined until they are not', async () => {
    const engine = await open()
    const { ingest_key: ingestKey } = await engine.getSource('app')
    const told: string[] = []
    const { stop } = await engine.tail({ selector: { service: 'api' }, sources: [] }, (message) => {
      if ('rows' in message) told.push(...message.rows.map(({ id }) => id))
    })
    const post = () =>
      engine.ingest({
        ingestKey: ingestKey!,
        body: Buffer.from(JSON.stringify({ host: '10.0.0.4' })),
        ...{ bypassCooldown: false, caller: 'open' },
      })
    await post()
    await engine.createJoinedEntity({ name: 'api', ...API }, BY)
    await post()
    await engine.deleteJoinedEntity('api', BY)
    await post()
    stop()
    expect(told).toEqual(['evt_2'])
  })
})

describe('entities of a catalog', () => {
  const yaml = (entities: unknown[], more: object = {}) =>
    JSON.stringify({ sources: [SOURCE], entities, ...more })

  it('are imported, exported as they were said, and changed by nothing when imported again', async () => {
    const engine = await open()
    const file = yaml([
      { name: 'api', ...API, prevent_destroy: true },
      { name: 'services', is: ['service=(?<n>.+)', 'deployment=${n}'] },
    ])
    await engine.importCatalog({ yaml: file }, BY)
    expect((await exported(engine)).entities).toEqual([
      { name: 'api', ...API, prevent_destroy: true },
      { name: 'services', is: ['service=(?<n>.+)', 'deployment=${n}'] },
    ])
    const again = await engine.importCatalog({ yaml: file, dry_run: true }, BY)
    expect(again.plan!.changes.filter(({ action }) => action !== 'none')).toEqual([])
    await expect(engine.deleteJoinedEntity('api', BY)).rejects.toThrow(/prevent_destroy/)
  })

  it('with a name of two are refused at both places', async () => {
    const engine = await open()
    const asked = await engine.checkCatalog({
      yaml: yaml([
        { name: 'api', ...API },
        { name: 'web', is: ['service=web', 'host=10.0.0.4'] },
      ]),
    })
    expect(asked.problems.map(({ path, message }) => [path, message])).toEqual([
      ['entities[0].is', 'host=10.0.0.4 is a name of entity api and of entity web; it can be of one'],
      ['entities[1].is', 'host=10.0.0.4 is a name of entity api and of entity web; it can be of one'],
    ])
  })

  it('go when a file that prunes no longer names them, and keep their record when moved', async () => {
    const engine = await open()
    await engine.importCatalog({ yaml: yaml([{ name: 'api', ...API }]) }, BY)
    await engine.importCatalog(
      {
        yaml: yaml([{ name: 'backend', ...API }], { moved: [{ entity: 'api', to: 'backend' }] }),
        prune: true,
      },
      BY,
    )
    expect((await engine.listJoinedEntities()).entities.map(({ name }) => name)).toEqual(['backend'])
    const { change_sets } = await engine.listChangeSets({ kind: 'entity', name: 'backend', limit: 10 })
    expect(change_sets).toHaveLength(2)
    await engine.importCatalog({ yaml: yaml([]), prune: true }, BY)
    expect((await engine.listJoinedEntities()).entities).toEqual([])
  })
})
