import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const open = (env: Record<string, string> = {}) =>
  createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env })
const source = (name: string, more = '') => `  - { name: ${name}, connector: webhook${more} }\n`
const two = `sources:\n${source('a')}${source('b')}`
const names = async (engine: ReturnType<typeof open>) => (await engine.listSources()).map(({ name }) => name)

describe('an approved plan', () => {
  it('is what is applied, or nothing: with prune, a source made meanwhile is not deleted', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: two }, BY)
    const one = { yaml: `sources:\n${source('a')}`, prune: true }
    const { fingerprint, plan } = await engine.checkCatalog(one)
    expect(plan).toMatchObject({ deletes: 1 })
    await engine.importCatalog({ yaml: `sources:\n${source('made-meanwhile')}` }, BY)
    await expect(engine.importCatalog({ ...one, fingerprint: fingerprint! }, BY)).rejects.toMatchObject({
      code: 'conflict',
      extra: { plan: { deletes: 2 }, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    expect(await names(engine)).toEqual(['a', 'b', 'made-meanwhile'])
    const again = await engine.checkCatalog(one)
    await engine.importCatalog({ ...one, fingerprint: again.fingerprint! }, BY)
    expect(await names(engine)).toEqual(['a'])
  })

  it('does not hold for an object that another change has touched since, nor for another file or way', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: two }, BY)
    const change = { yaml: `sources:\n${source('a', ', config: { event_type: x }')}` }
    const { fingerprint } = await engine.checkCatalog(change)
    const approved = { ...change, fingerprint: fingerprint! }
    const refused = (body: object) =>
      expect(engine.importCatalog({ ...approved, ...body }, BY)).rejects.toMatchObject({ code: 'conflict' })
    await refused({ yaml: `${change.yaml} ` })
    await refused({ prune: true })
    await engine.moveSource('b', 'pause', BY)
    expect((await engine.importCatalog({ ...approved, dry_run: true }, BY)).plan.updates).toBe(1)
    for (const event of ['pause', 'resume'] as const) await engine.moveSource('a', event, BY)
    await refused({})
  })

  it('of a project from a template is the same each time it is made', async () => {
    const engine = open()
    const yaml = 'projects:\n  - { template: webhook_watch, name: Watch, params: { service: checkout } }\n'
    const [first, second] = [await engine.checkCatalog({ yaml }), await engine.checkCatalog({ yaml })]
    expect(first.fingerprint).toBe(second.fingerprint)
    const done = await engine.importCatalog({ yaml, fingerprint: first.fingerprint! }, BY)
    expect([done.change_set, done.fingerprint]).toEqual([1, first.fingerprint])
  })
})

describe('what keeps a plan from deleting too much', () => {
  it('an empty file with prune is refused unless that is said to be meant', async () => {
    const engine = open()
    await engine.importCatalog({ yaml: two }, BY)
    for (const yaml of ['', 'sources: []\n', '# nothing\ntriggers:\n']) {
      const { problems, plan } = await engine.checkCatalog({ yaml, prune: true })
      expect(problems[0]!.message).toMatch(/declares nothing.*source a, source b; allow_empty/)
      expect(plan).toMatchObject({ deletes: 2 })
      await expect(engine.importCatalog({ yaml, prune: true }, BY)).rejects.toMatchObject({
        code: 'invalid',
        extra: { plan: { deletes: 2 } },
      })
    }
    await expect(engine.importCatalog({ yaml: '', mode: 'replace' }, BY)).rejects.toThrow('allow_empty')
    expect(await names(engine)).toEqual(['a', 'b'])
    await engine.importCatalog({ yaml: '', prune: true, allow_empty: true }, BY)
    expect(await names(engine)).toEqual([])
  })

  it('more than ten objects are deleted only when the bound is raised', async () => {
    const engine = open()
    const many = Array.from({ length: 12 }, (_, i) => source(`s${i + 10}`)).join('')
    await engine.importCatalog({ yaml: `sources:\n${many}` }, BY)
    const one = { yaml: `sources:\n${source('s10')}`, prune: true }
    await expect(engine.importCatalog(one, BY)).rejects.toThrow(
      /11 objects would be deleted, and at most 10 may be.*--max-deletions 11/,
    )
    expect((await engine.checkCatalog({ ...one, max_deletions: 11 })).problems).toEqual([])
    await expect(engine.importCatalog({ ...one, max_deletions: 3 }, BY)).rejects.toThrow('at most 3')
    await engine.importCatalog({ ...one, max_deletions: 11 }, BY)
    expect(await names(engine)).toEqual(['s10'])
  })

  it('a part with prevent_destroy is deleted by no file, hand, project or undo until it has it no more', async () => {
    const engine = open()
    const guarded = `sources:\n${source('a', ', prevent_destroy: true')}${source('b')}`
    const { change_set } = await engine.importCatalog({ yaml: guarded }, BY)
    expect(await engine.exportCatalog()).toBe(guarded)
    const prune = { yaml: `sources:\n${source('b')}`, prune: true }
    expect((await engine.checkCatalog(prune)).problems[0]!.message).toContain(
      'source a would be deleted, and it has prevent_destroy',
    )
    await expect(engine.importCatalog(prune, BY)).rejects.toThrow('prevent_destroy')
    const how = { cascade: true, purgeEvents: false }
    await expect(engine.deleteSource('a', how, BY)).rejects.toMatchObject({ code: 'conflict' })
    await expect(engine.undoChangeSet(change_set!, false, BY)).rejects.toThrow('prevent_destroy')
    await engine.updateSource('a', { name: 'a', connector: 'webhook', config: { event_type: 'x' } }, BY)
    await expect(engine.deleteSource('a', how, BY)).rejects.toThrow('prevent_destroy')
    await engine.importCatalog({ yaml: two }, BY)
    await engine.deleteSource('a', how, BY)
    expect(await names(engine)).toEqual(['b'])
  })

  it('prevent_destroy is a field like any other: of every kind of part, planned, undone and patched', async () => {
    const engine = open()
    const guard = 'prevent_destroy: true'
    const all = `sources:
  - { name: s, connector: webhook, ${guard} }
triggers:
  - { name: t, sources: [s], condition: { every: 1h }, ${guard} }
agents:
  - { name: a, prompt: Look., ${guard} }
mcp_servers:
  - { name: m, url: "https://m.example/", ${guard} }
skills:
  - { name: k, description: d, body: b, ${guard} }
`
    await engine.importCatalog({ yaml: all.replaceAll(`, ${guard}`, '') }, BY)
    const { plan, change_set } = await engine.importCatalog({ yaml: all }, BY)
    expect(plan.changes.filter(({ action }) => action === 'update').map(({ kind }) => kind)).toEqual([
      'source',
      'mcp_server',
      'skill',
      'trigger',
      'agent',
    ])
    expect(await engine.exportCatalog()).toBe(all)
    expect((await engine.importCatalog({ yaml: all }, BY)).change_set).toBeNull()
    await engine.updateAgent('a', { name: 'a', prompt: 'Look twice.' }, BY)
    await expect(engine.deleteAgent('a', BY)).rejects.toThrow('prevent_destroy')
    const patch = (value: unknown) => ({
      operations: [
        { op: 'patch' as const, kind: 'agent' as const, name: 'a', spec: { prevent_destroy: value } },
      ],
    })
    await expect(engine.applyChangeSet(patch('yes'), BY)).rejects.toThrow('must be true or false')
    await engine.applyChangeSet(patch(null), BY)
    await engine.deleteAgent('a', BY)
    await engine.undoChangeSet(change_set! + 3, false, BY)
    await engine.undoChangeSet(change_set!, false, BY)
    expect(await engine.exportCatalog()).not.toContain(guard)
  })
})
