/** Label drift: one rule, and each place that tells it. */
import { describe, expect, it } from 'vitest'
import { type Carried, coverageOf, driftOf, STOPPED_AFTER } from '../../../engine/sources/health.ts'

import { BY, openWorld, type World } from '../triggers/trigger-world.ts'

const some = (count: number, ...labels: string[]): Carried[] =>
  Array.from({ length: count }, () => ({ labels }))
/** Events whose entity is this label, as a connector takes another where the primary one is missing. */
const about = (count: number, entity: string): Carried[] =>
  Array.from({ length: count }, () => ({ labels: [entity], entity }))
const need = { field: 'key_field', label: 'order', sources: ['app'], isEntity: false }
const entity = { ...need, isEntity: true }

describe('a label that a part depends on', () => {
  it.each([
    ['no event came yet', [], entity, null],
    ['all have it', some(10, 'order'), entity, null],
    ['four of five have the entity', [...some(8, 'order'), ...some(2)], entity, null],
    ['few have a label that is not the entity', [...some(1, 'order'), ...some(99)], need, null],
    [
      'none has it',
      some(3),
      need,
      'key_field names label order, which is on none of the last 3 events of app',
    ],
    [
      'half have the entity',
      [...some(5, 'order'), ...some(5)],
      entity,
      'key_field names label order, the entity, which is on 5 of the last 10 events of app; the others are on no timeline and wake nobody',
    ],
    [
      'it has stopped to come',
      [...some(STOPPED_AFTER), ...some(30, 'order')],
      need,
      'key_field names label order, which none of the last 20 events of app has, though most before had it',
    ],
    [
      'half have another entity, which their connector takes',
      [...about(5, 'order'), ...about(5, 'host_name')],
      entity,
      null,
    ],
    [
      'some of those that lack it have another entity',
      [...about(5, 'order'), ...about(2, 'host_name'), ...some(3)],
      entity,
      'key_field names label order, the entity, which is on 5 of the last 10 events of app; 3 of the others are on no timeline and wake nobody',
    ],
    [
      'none has it, though all have another: it was meant to be the entity',
      about(3, 'host_name'),
      entity,
      'key_field names label order, which is on none of the last 3 events of app',
    ],
    [
      'none has it, all have another, and the connector named it by itself',
      about(3, 'host_name'),
      { ...entity, isProposed: true },
      null,
    ],
    [
      'the connector named it, and nothing has an entity',
      some(3, 'region'),
      { ...entity, isProposed: true },
      'key_field names label order, which is on none of the last 3 events of app',
    ],
    [
      'the entity has become another',
      [...about(STOPPED_AFTER, 'host_name'), ...about(30, 'order')],
      { ...entity, isProposed: true },
      'key_field names label order, which none of the last 20 events of app has, though most before had it',
    ],
    ['it was always rare', [...some(STOPPED_AFTER), ...some(3, 'order'), ...some(30)], need, null],
  ])('where %s', (_what, events, of, sentence) => {
    expect(driftOf(of, () => coverageOf(events))).toBe(sentence)
  })

  it('is enough on one of several sources', () => {
    const coverage = (source: string) => coverageOf(source === 'b' ? some(5, 'order') : some(5))
    expect(driftOf({ ...need, sources: ['a', 'b'] }, coverage)).toBeNull()
    expect(driftOf({ ...need, sources: ['a', 'c'] }, coverage)).toContain(
      'none of the last 10 events of a, c',
    )
  })
})

const NONE = 'which is on none of the last 3 events of app'
const FILTER = `trigger t: filters[0].field names label custmer, ${NONE}`

async function worldWithEvents(): Promise<World> {
  const world = await openWorld()
  await world.post([1, 2, 3].map((n) => ({ service: 'checkout', type: 'error', ms: n })))
  return world
}
const write = {
  name: 't',
  sources: ['app'],
  filters: [{ field: 'custmer', op: 'eq' as const, value: 'x' }],
  condition: {
    aggregate: 'max' as const,
    field: 'duration',
    predicate: '> 2',
    window: '5m',
    group_by: ['service', 'pod'],
  },
}

describe('label drift is told', () => {
  it('at save of a trigger: filter, group and aggregate, and nothing where the labels come', async () => {
    const { engine } = await worldWithEvents()
    expect((await engine.createTrigger(write, BY)).warnings).toEqual([
      FILTER,
      `trigger t: condition.group_by[1] names label pod, ${NONE}`,
      `trigger t: condition.field names label duration, ${NONE}`,
    ])
    const right = {
      ...write,
      filters: [
        { field: 'service', op: 'eq' as const, value: 'x' },
        { field: 'region', op: 'exists' as const, value: false },
        { field: 'payload.any', op: 'eq' as const, value: 'x' },
      ],
      condition: { ...write.condition, field: 'ms', group_by: ['service', 'event_type'] },
    }
    expect(await engine.updateTrigger('t', right, BY)).not.toHaveProperty('warnings')
  })

  it('of a label named source, which filters and groups take for the source that an event came to', async () => {
    const { engine } = await worldWithEvents()
    const labels = ['service', 'source'].map((name) => ({ name, field: name, primary: name === 'service' }))
    await engine.createSource({ name: 'orders', connector: 'webhook', config: { labels } }, BY, false)
    const asked = (filter: string, groups: string[]) => ({
      ...{ name: 't', sources: ['orders'] },
      filters: [{ field: 'source', op: 'eq' as const, value: filter }],
      condition: { aggregate: 'count' as const, predicate: '> 2', window: '5m', group_by: groups },
    })
    const rule =
      'names source, which is the source that an event came to, and not the label source of orders: give that label another name'
    expect((await engine.createTrigger(asked('/orders', ['source']), BY)).warnings).toEqual([
      `trigger t: filters[0].field ${rule}`,
      `trigger t: condition.group_by[0] ${rule}`,
    ])
    // By its name it means the source, and one whose events have no such label means nothing else.
    expect(await engine.updateTrigger('t', asked('orders', ['service']), BY)).not.toHaveProperty('warnings')
  })

  it('of a number where a text is asked for, and of a text where a number is, by events or else by the config', async () => {
    const world = await worldWithEvents()
    const { engine } = world
    const key = 'a key is made of text labels alone, so that it never fires'
    const trigger = (source: string, change: object) => ({
      name: 't',
      ...{ sources: [source], key_field: 'ms', condition: { ...write.condition, ...change } },
    })
    const wrong = { aggregate: 'avg' as const, field: 'service', group_by: ['ms'] }
    expect((await engine.createTrigger(trigger('app', wrong), BY)).warnings).toEqual([
      `trigger t: key_field names label ms, which is a number label of app: ${key}`,
      `trigger t: condition.group_by[0] names label ms, which is a number label of app: ${key}`,
      'trigger t: condition.field names label service, which is a text label of app: avg takes numbers alone, so that no event counts',
    ])
    await world.post([{ service: 'checkout', ms: 3 }])
    const counted = { ...wrong, aggregate: 'distinct' as const, field: 'ms', group_by: ['service'] }
    const right = { ...trigger('app', counted), key_field: 'service' }
    expect(await engine.updateTrigger('t', right, BY)).not.toHaveProperty('warnings')
    // Nothing came of it, but its config says what they are.
    const { connector, config } = await engine.getSource('app')
    await engine.createSource({ name: 'quiet', connector, config }, BY, false)
    expect((await engine.updateTrigger('t', trigger('quiet', wrong), BY)).warnings).toHaveLength(3)
  })

  it('before anything came, where the config of each source says all the labels it will have', async () => {
    const { engine } = await openWorld()
    const labels = ['service', 'pod'].map((name) => ({ name, field: name, primary: name === 'service' }))
    const { name, ...spec } = { ...write, sources: ['orders'] }
    const operations = [
      { op: 'put', kind: 'source', name: 'orders', spec: { connector: 'webhook', config: { labels } } },
      { op: 'put', kind: 'trigger', name, spec },
    ]
    const rule = 'which orders will not have: the labels there are service, pod'
    expect((await engine.applyChangeSet({ operations } as never, BY)).plan.warnings).toEqual([
      `trigger t: filters[0].field names label custmer, ${rule}`,
      `trigger t: condition.field names label duration, ${rule}`,
    ])
    // Beside one whose connector brings labels of its own nothing is known of what comes.
    await engine.createSource({ name: 'otel', connector: 'otlp', config: {} }, BY, false)
    const sources = ['orders', 'otel']
    expect(await engine.updateTrigger('t', { ...write, sources }, BY)).not.toHaveProperty('warnings')
  })

  it('at a save that changes nothing, once more', async () => {
    const { engine } = await worldWithEvents()
    const first = await engine.createTrigger(write, BY)
    const { version } = await engine.getTrigger('t')
    expect((await engine.updateTrigger('t', write, BY)).warnings).toEqual(first.warnings)
    expect(await engine.getTrigger('t')).toMatchObject({ version })
  })

  it('in a plan, before anything is written', async () => {
    const { engine } = await worldWithEvents()
    const { name, ...spec } = write
    const operations = [{ op: 'put', kind: 'trigger', name, spec }]
    const { id } = await engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY)
    const { plan, problems } = await engine.previewDraft(id, { operations } as never, BY)
    expect(problems).toEqual([])
    expect(plan!.warnings).toContain(FILTER)
  })

  it('in the health of the project, and on its graph', async () => {
    const { engine } = await worldWithEvents()
    const { id } = await engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY)
    await engine.createTrigger({ ...write, project: id }, BY)
    const { state, issues } = await engine.projectHealth(id)
    expect(state).toBe('attention')
    expect(issues).toContainEqual({
      severity: 'warning',
      message: `Trigger t: filters[0].field names label custmer, ${NONE}`,
      fix: 'Name a label that its events carry, or have the source give them this one',
      view: '/triggers/t',
    })
    const { nodes } = await engine.projectGraph(id)
    expect(nodes.find(({ id: node }) => node === 'trigger:t')).toMatchObject({
      health: 'attention',
      reason: `filters[0].field names label custmer, ${NONE}`,
    })
  })

  it('of a trigger and of an agent, as each is read, for as long as it holds', async () => {
    const { engine } = await worldWithEvents()
    await engine.createTrigger(write, BY)
    const agent = { name: 'first-look', prompt: 'Look.', trigger: 't', webhook_key_label: 'ticket' }
    await engine.createAgent(agent, BY)
    expect((await engine.getTrigger('t')).warnings).toEqual([
      `filters[0].field names label custmer, ${NONE}`,
      `condition.group_by[1] names label pod, ${NONE}`,
      `condition.field names label duration, ${NONE}`,
    ])
    expect((await engine.getAgent('first-look')).warnings).toEqual([
      `webhook_key_label names label ticket, ${NONE}`,
    ])
    // A list says nothing of it: the rule looks at events.
    expect((await engine.listTriggers())[0]).not.toHaveProperty('warnings')
    const fine = {
      filters: [{ field: 'service', op: 'eq' as const, value: 'x' }],
      condition: { event: 'any' },
    }
    await engine.updateTrigger('t', { name: 't', sources: ['app'], ...fine } as never, BY)
    expect((await engine.getTrigger('t')).warnings).toEqual([])
  })

  it('in the health of a source whose entity half of the events lack', async () => {
    const { engine, post } = await worldWithEvents()
    await post([1, 2, 3].map(() => ({ type: 'TargetDown' })))
    expect((await engine.getSource('app')).health.notice).toBe(
      'Its config.labels[0] names label service, the entity, which is on 3 of the last 6 events of app; the others are on no timeline and wake nobody.',
    )
  })

  it('of OpenTelemetry where records are on no timeline, not where they are on that of their host', async () => {
    const { engine } = await openWorld()
    const labels = [{ name: 'service', field: 'resourceAttributes.service.name', primary: true }]
    const write = { name: 'otel', connector: 'otlp', config: { labels } }
    const { ingest_key } = await engine.createSource(write, BY, false)
    const send = (resourceAttributes: object, count: number) =>
      engine.ingest({
        ingestKey: ingest_key!,
        body: Buffer.from(JSON.stringify(Array(count).fill({ resourceAttributes, body: 'up' }))),
        bypassCooldown: false,
        caller: 'open',
      })
    await send({ 'host.name': 'web-1' }, 9)
    expect((await engine.getSource('otel')).health.notice).toBeNull()
    await send({ 'service.name': 'checkout' }, 1)
    expect((await engine.getSource('otel')).health.notice).toBeNull()
    expect(await engine.updateSource('otel', write, BY)).not.toHaveProperty('warnings')
    const other = [{ name: 'customer', field: 'attributes.customer', primary: true }]
    expect(await engine.updateSource('otel', { ...write, config: { labels: other } }, BY)).toMatchObject({
      warnings: [
        'source otel: config.labels[0] names label customer, which is on none of the last 10 events of otel',
      ],
    })
  })

  it('at save of a source that no longer gives a label, of each trigger that needs it', async () => {
    const { engine } = await worldWithEvents()
    await engine.createTrigger(
      {
        name: 'slow',
        sources: ['app'],
        condition: { ...write.condition, field: 'ms', group_by: ['service'] },
      },
      BY,
    )
    const { connector, config } = await engine.getSource('app')
    const labels = (config.labels as { name: string }[]).map((label) =>
      label.name === 'ms' ? { ...label, name: 'millis' } : label,
    )
    const answer = await engine.updateSource(
      'app',
      { name: 'app', connector, config: { ...config, labels } },
      BY,
    )
    expect(answer).toMatchObject({
      warnings: [`trigger slow: condition.field names label ms, ${NONE}`],
    })
  })

  it('of a trigger whose events have no entity: it would never fire, and nobody would know why', async () => {
    const { engine } = await worldWithEvents()
    const bare = await engine.createSource({ name: 'bare', connector: 'webhook', config: {} }, BY, false)
    const trigger = {
      name: 'many',
      sources: ['bare'],
      condition: { aggregate: 'count' as const, predicate: '> 1', window: '5m' },
    }
    const way = 'so it cannot fire: mark a label of the source as its entity key, or group by a label'
    const before = `trigger many: no label of bare is marked as entity key, ${way}`
    expect((await engine.createTrigger(trigger, BY)).warnings).toEqual([before])
    await engine.ingest({
      ingestKey: bare.ingest_key!,
      body: Buffer.from(JSON.stringify([{ service: 'checkout' }, { service: 'checkout' }])),
      bypassCooldown: false,
      caller: 'open',
    })
    const since = `none of the last 2 events of bare has an entity, ${way}`
    expect((await engine.updateTrigger('many', trigger, BY)).warnings).toEqual([`trigger many: ${since}`])
    expect((await engine.getTrigger('many')).warnings).toEqual([since])
    const grouped = { ...trigger, condition: { ...trigger.condition, group_by: ['event_type'] } }
    for (const fine of [
      grouped,
      { ...trigger, sources: ['bare', 'app'] },
      { ...trigger, condition: { every: '5m' } },
    ])
      expect(await engine.updateTrigger('many', fine as never, BY)).not.toHaveProperty('warnings')
  })

  it('not of a source that sent nothing yet where its connector, its preset or GitHub names the entity', async () => {
    const { engine } = await openWorld()
    const kinds = [
      { name: 'otel', connector: 'otlp', config: {} },
      { name: 'hub', connector: 'webhook', config: { signature_scheme: 'github', signature_secret: 'x' } },
      { name: 'board', connector: 'webhook', config: { preset: 'grafana' } },
      {
        name: 'rules',
        connector: 'prometheus_alerts',
        config: { url: 'http://a:9090', default_key: 'shop' },
      },
      {
        name: 'rates',
        connector: 'prometheus',
        config: { url: 'http://a:9090', queries: [{ promql: 'up', key_label: 'job' }] },
      },
    ]
    for (const source of kinds) {
      await engine.createSource(source as never, BY, false)
      const trigger = {
        name: `on-${source.name}`,
        sources: [source.name],
        filters: [{ field: 'status', op: 'eq', value: 'firing' }],
        condition: { event: 'any' as const },
      }
      expect(await engine.createTrigger(trigger as never, BY)).not.toHaveProperty('warnings')
    }
  })

  it('of a trigger over alerts that counts each a second time, when it is resolved', async () => {
    const { engine } = await openWorld()
    await engine.createSource({ name: 'am', connector: 'alertmanager', config: {} } as never, BY, false)
    const each = { name: 'alerts', sources: ['am'], condition: { event: 'any' } }
    const warning =
      'trigger alerts: an alert of source am trips it again when it is resolved: filter on status eq firing, or status in firing, resolved where both are meant'
    const { id } = await engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY)
    const made = await engine.createTrigger({ ...each, project: id } as never, BY)
    expect(made.warnings).toEqual([warning])
    // No label is what is wrong with it.
    expect((await engine.projectHealth(id)).issues).toContainEqual({
      ...{ severity: 'warning', message: warning.replace('t', 'T') },
      ...{ fix: 'Change the trigger', view: '/triggers/alerts' },
    })
    const many = { ...each, condition: { aggregate: 'count', predicate: '> 3', window: '5m' } }
    expect((await engine.updateTrigger('alerts', many as never, BY)).warnings).toEqual([warning])
    const filters = (field: string, value: unknown, op = 'eq') => ({
      ...each,
      filters: [{ field, op, value }],
    })
    for (const fine of [
      filters('status', 'firing'),
      filters('payload.status', ['firing', 'resolved'], 'in'),
      filters('level', 'error'),
      { ...each, condition: { absent_for: '1h' } },
    ])
      expect(await engine.updateTrigger('alerts', fine as never, BY)).not.toHaveProperty('warnings')
    const config = { preset: 'grafana' }
    await engine.createSource({ name: 'grafana', connector: 'webhook', config } as never, BY, false)
    const ofPreset = { ...each, sources: ['grafana'] }
    expect((await engine.updateTrigger('alerts', ofPreset as never, BY)).warnings).toContain(
      'trigger alerts: an alert of source grafana trips it again when it is resolved: filter on status eq firing, or status in firing, resolved where both are meant',
    )
    const byType = { ...filters('event_type', 'alert.firing'), sources: ['grafana'] }
    expect(await engine.updateTrigger('alerts', byType as never, BY)).not.toHaveProperty('warnings')
  })

  it.each([
    { connector: 'prometheus', config: { url: 'http://a:9090', queries: [{ promql: 'up' }] } },
    { connector: 'prometheus_alerts', config: { url: 'http://a:9090' } },
  ])('of a source of $connector that sent nothing yet and names no entity', async (source) => {
    const { engine } = await openWorld()
    await engine.createSource({ name: 'polled', ...source } as never, BY, false)
    const filters = [{ field: 'level', op: 'eq', value: 'error' }]
    const trigger = { name: 'on', sources: ['polled'], filters, condition: { event: 'any' as const } }
    expect((await engine.createTrigger(trigger as never, BY)).warnings).toEqual([
      expect.stringContaining('no label of polled is marked as entity key'),
    ])
  })

  it('of the label an agent keys its write-back by', async () => {
    const { engine } = await worldWithEvents()
    await engine.createTrigger({ name: 'any', sources: ['app'], condition: { event: 'any' } }, BY)
    const agent = { name: 'first-look', prompt: 'Look.', trigger: 'any', webhook_key_label: 'ticket' }
    expect((await engine.createAgent(agent, BY)).warnings).toEqual([
      `agent first-look: webhook_key_label names label ticket, ${NONE}`,
    ])
  })
})
