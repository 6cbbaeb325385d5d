/** Three ways: what was applied last, what the file says and what the instance is. */
import { beforeEach, describe, expect, it } from 'vitest'
import YAML from 'yaml'
import { createEngine } from '../../../../engine/local.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'catalog' as const }
const HAND = { ...BY, origin: 'api' as const }
const MERGE = { merge: true, name: 'shop' }

interface Shop {
  sources?: object[]
  triggers?: object[]
  agents?: object[]
  projects?: object[]
}
const gateway = { name: 'gateway', connector: 'webhook', config: { event_type: 'request' } }
const errors = {
  name: 'errors',
  sources: ['gateway'],
  condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
}
const look = {
  name: 'look',
  prompt: 'Say what broke.',
  trigger: 'errors',
  enabled: true,
  verdicts: [{ verdict: 'dig', when: 'unclear' }],
}
const shop = (more: Shop = {}): string =>
  YAML.stringify({ sources: [gateway], triggers: [errors], agents: [look], ...more })

let engine: ReturnType<typeof createEngine>
beforeEach(async () => {
  engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
  await engine.importCatalog({ yaml: shop(), name: 'shop' }, BY)
})
/** Changes a trigger as a person does. */
const byHand = async (fields: object) => {
  const { name: _name, ...spec } = { ...errors, ...fields }
  await engine.updateTrigger('errors', spec as never, HAND)
}
const changesOf = async (body: object) => {
  const checked = await engine.checkCatalog({ ...MERGE, ...(body as { yaml: string }) })
  return (checked.plan?.changes ?? [])
    .filter(({ action }) => action !== 'none')
    .map(({ action, kind, name, fields }) => `${action} ${kind} ${name} ${fields.map(({ path }) => path)}`)
}

describe('an import that merges', () => {
  it('keeps what was changed by hand and says so; without merge the file takes it back', async () => {
    await byHand({ cooldown: '1h' })
    const checked = await engine.checkCatalog({ ...MERGE, yaml: shop() })
    expect(checked.plan).toMatchObject({ creates: 0, updates: 0, deletes: 0 })
    expect(checked.conflicts).toEqual([])
    expect(checked.kept).toMatchObject([
      { kind: 'trigger', name: 'errors', path: '/cooldown', base: null, mine: null, theirs: '1h' },
    ])
    const { plan } = await engine.checkCatalog({ yaml: shop(), name: 'shop' })
    expect(plan).toMatchObject({ updates: 1 })
  })

  it('counts what stays as it is, as a plan without merge does', async () => {
    const unchanged = async (body: object) =>
      (await engine.checkCatalog({ name: 'shop', ...body, yaml: shop() })).plan!.unchanged
    expect(await unchanged({})).toBeGreaterThanOrEqual(3)
    expect(await unchanged({ merge: true })).toBe(await unchanged({}))
    const yaml = shop({ triggers: [{ ...errors, description: 'Too many errors' }] })
    const { plan } = await engine.checkCatalog({ ...MERGE, yaml })
    expect(plan).toMatchObject({ updates: 1, unchanged: (await unchanged({})) - 1 })
  })

  it('takes what the file changed beside it', async () => {
    await byHand({ cooldown: '1h' })
    const yaml = shop({ triggers: [{ ...errors, description: 'Too many errors' }] })
    expect(await changesOf({ yaml })).toEqual(['update trigger errors /description'])
    await engine.importCatalog({ ...MERGE, yaml }, BY)
    expect(await engine.getTrigger('errors')).toMatchObject({
      description: 'Too many errors',
      cooldown: '1h',
    })
    // And what is applied again is no change, with the edit by hand still kept.
    expect(await changesOf({ yaml })).toEqual([])
    expect((await engine.checkCatalog({ ...MERGE, yaml })).kept).toHaveLength(1)
  })

  it('tells a field that both changed with all three values and its place, and applies nothing', async () => {
    await byHand({ condition: { ...errors.condition, predicate: '> 50' } })
    const yaml = shop({
      triggers: [{ ...errors, condition: { ...errors.condition, predicate: '> 9' }, description: 'New' }],
    })
    const checked = await engine.checkCatalog({ ...MERGE, yaml })
    const line = yaml.split('\n').findIndex((one) => one.includes('> 9')) + 1
    const told = {
      ...{ kind: 'trigger', name: 'errors', path: '/condition/predicate', line },
      ...{ base: '> 5', mine: '> 9', theirs: '> 50' },
    }
    expect(checked).toMatchObject({ plan: null, fingerprint: null, conflicts: [told] })
    await expect(engine.importCatalog({ ...MERGE, yaml }, BY)).rejects.toMatchObject({
      code: 'conflict',
      extra: { conflicts: [told] },
    })
    expect(await engine.getTrigger('errors')).toMatchObject({ condition: { predicate: '> 50' } })
    expect((await engine.getTrigger('errors')).description).toBeFalsy()
  })

  it.each([
    ['file', '> 9'],
    ['instance', '> 50'],
  ] as const)('takes the value of the %s where ours says so', async (ours, predicate) => {
    await byHand({ condition: { ...errors.condition, predicate: '> 50' } })
    const yaml = shop({ triggers: [{ ...errors, condition: { ...errors.condition, predicate: '> 9' } }] })
    await engine.importCatalog({ ...MERGE, yaml, ours }, BY)
    expect(await engine.getTrigger('errors')).toMatchObject({ condition: { predicate } })
    expect((await engine.checkCatalog({ ...MERGE, yaml })).conflicts).toEqual([])
  })

  it('refuses ours without merge', async () => {
    await expect(engine.checkCatalog({ yaml: shop(), ours: 'file' })).rejects.toMatchObject({
      code: 'invalid',
      extra: { field: 'ours' },
    })
  })

  it('merges lists by the names of their entries', async () => {
    const verdict = (name: string) => ({ verdict: name, when: `it is ${name}` })
    const spec = { ...look, verdicts: [...look.verdicts, verdict('hand')] }
    const { name: _name, trigger: _trigger, enabled: _enabled, ...agent } = spec
    await engine.updateAgent('look', agent as never, HAND)
    const yaml = shop({ agents: [{ ...look, verdicts: [...look.verdicts, verdict('file')] }] })
    expect((await engine.checkCatalog({ ...MERGE, yaml })).conflicts).toEqual([])
    await engine.importCatalog({ ...MERGE, yaml }, BY)
    const { verdicts } = (await engine.getAgent('look')) as { verdicts?: { verdict: string }[] }
    expect(verdicts!.map((one) => one.verdict).sort()).toEqual(['dig', 'file', 'hand'])
  })

  it('keeps wiring that was switched off by hand, and unwires what the file does', async () => {
    await engine.switchAgent('look', false, undefined, HAND)
    expect(await changesOf({ yaml: shop() })).toEqual([])
    const { kept } = await engine.checkCatalog({ ...MERGE, yaml: shop() })
    expect(kept).toMatchObject([{ path: '/wakes/errors/look/enabled', mine: true, theirs: false }])
  })

  it('leaves what was deleted by hand deleted, and tells where the file changed it', async () => {
    await engine.deleteAgent('look', HAND)
    expect(await changesOf({ yaml: shop() })).toEqual([])
    const changed = shop({ agents: [{ ...look, prompt: 'Say more.' }] })
    const { conflicts } = await engine.checkCatalog({ ...MERGE, yaml: changed })
    expect(conflicts).toMatchObject([{ kind: 'agent', name: 'look', path: '', theirs: null }])
    await engine.importCatalog({ ...MERGE, yaml: changed, ours: 'file' }, BY)
    expect(await engine.getAgent('look')).toMatchObject({ prompt: 'Say more.' })
  })

  it('with prune deletes what the file took out, and leaves what was made by hand', async () => {
    await engine.createSource({ name: 'mine', connector: 'webhook' } as never, HAND, false)
    expect(await changesOf({ yaml: shop({ agents: [] }), prune: true })).toEqual(
      ['update project Default /wakes,/uses/agent', expect.stringMatching(/^delete agent look/)].toSorted(),
    )
    await byHand({ cooldown: '1h' })
    const { conflicts } = await engine.checkCatalog({
      ...MERGE,
      yaml: YAML.stringify({ sources: [gateway] }),
      prune: true,
    })
    expect(conflicts).toMatchObject([{ kind: 'trigger', name: 'errors', path: '', mine: null }])
  })

  it('without what was applied last tells all that differs', async () => {
    await engine.forgetCatalogFile('shop')
    await byHand({ description: 'By hand', cooldown: '1h' })
    const { conflicts, kept } = await engine.checkCatalog({
      ...MERGE,
      yaml: shop({ triggers: [{ ...errors, description: 'By file' }] }),
    })
    expect(conflicts).toMatchObject([
      { path: '/description', base: null, mine: 'By file', theirs: 'By hand' },
    ])
    expect(kept).toEqual([])
  })

  it('keeps a project paused by hand, and pauses what the file adds to it', async () => {
    const withProject = (more: Shop = {}) =>
      shop({
        projects: [{ template: 'custom', name: 'Shop' }],
        triggers: [{ ...errors, project: 'Shop' }],
        agents: [{ ...look, project: 'Shop' }],
        ...more,
      })
    engine = createEngine({ dataFile: null, clock: { now: () => 1_800_000_000_000 }, env: {} })
    await engine.importCatalog({ yaml: withProject(), name: 'shop' }, BY)
    const { id } = (await engine.listProjects()).find(({ name }) => name === 'Shop')!
    await engine.moveProject(id, 'pause', false, HAND)
    expect(await changesOf({ yaml: withProject() })).toEqual([])
    const late = { ...errors, name: 'late', project: 'Shop' }
    await engine.importCatalog(
      { ...MERGE, yaml: withProject({ triggers: [{ ...errors, project: 'Shop' }, late] }) },
      BY,
    )
    expect(await engine.getTrigger('late')).toMatchObject({ state: 'paused' })
    expect(await engine.getTrigger('errors')).toMatchObject({ state: 'paused' })
  })

  it('never shows a secret in a conflict', async () => {
    const { catalog: _c, ...plain } = { catalog: '', ...gateway }
    const secret = (value: string) => ({
      ...plain,
      config: { event_type: 'request', signature_scheme: 'github', signature_secret: value },
    })
    await engine.importCatalog({ yaml: shop({ sources: [secret('first-one')] }), name: 'shop' }, BY)
    const { conflicts = [], kept = [] } = await engine.checkCatalog({
      ...MERGE,
      yaml: shop({ sources: [secret('second-one')] }),
    })
    expect(JSON.stringify([conflicts, kept])).not.toContain('-one')
  })
})
