/** Every tool of svc mcp, called by the official client before a real daemon (SPEC.md, MCP server tools). */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tools } from '../../../api/mcp/tools/index.ts'
import type { Fields, Instance } from '../../contract/instance.ts'
import { conclude, MINUTE, serveRuns } from '../../contract/served-runs.ts'
import { say, startReceiver } from '../../engine/net/egress/receiver.ts'
import { call, called, startMcp } from './mcp-world.ts'
import { BIG, openShop, type Shop, SOURCE } from './shop-world.ts'

let shop: Shop
let svc: Instance

let client: Client
let project: string
let ingest: string
const used = new Set<string>()
const use = (name: string, args: Fields = {}) => {
  used.add(name)
  return called(client, name, args)
}

beforeAll(async () => {
  shop = await openShop()
  ;({ svc, client, project, ingest } = shop)
})
afterAll(() => shop?.close())

describe('the tools', () => {
  it('read a timeline, with the ids that other tools take', async () => {
    const { text, content } = await use('read', { selector: { service: 'checkout' }, window: '1h' })
    expect(content.count).toBe(1)
    expect(content.timeline).toContain('[web] order: paid · service=checkout (evt_')
    expect(text).toContain(content.timeline)
  })

  it('list the catalog, and say what a source or trigger is like', async () => {
    const { content } = await use('catalog_list')
    expect(content.entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ handle: 'source:web' }),
        expect.objectContaining({ handle: 'trigger:any', about: 'watches web' }),
        expect.objectContaining({ handle: `project:${project}` }),
      ]),
    )
    const source = (await use('catalog_describe', { handle: 'source:web' })).text
    expect(source).toContain('source:web: webhook, push, active')
    expect(source).toContain('entity: label service')
    expect(source).toContain('watched by: trigger:any')
    expect(source).toMatch(/ {2}service \(names the entity\), string: cart ×30, \S+ ×\d/)
    const { text } = await use('catalog_describe', { handle: 'trigger:any' })
    expect(text).toContain('source:web → trigger:any (condition)')
    expect(JSON.parse(/^definition: (.*)$/m.exec(text)![1]!)).toMatchObject({ name: 'any' })
  })

  it('give payloads byte for byte', async () => {
    const { content, text } = await use('read', { selector: { service: 'checkout' }, include_payload: true })
    const [{ id, payload }] = content.payloads as [{ id: string; payload: string }]
    expect(payload).toBe(BIG)
    expect(text).toContain(BIG)
    const event = await use('get_event', { id })
    expect(event.content).toMatchObject({ id, source: 'web', payload: BIG, cut: false, next_cursor: null })
  })

  it('page through a timeline within the budget, and lose nothing', async () => {
    const seen: string[] = []
    let cursor: string | null | undefined
    for (let page = 0; page < 40 && cursor !== null; page++) {
      const { content, text } = await use('read', {
        selector: { service: 'cart' },
        max_tokens: 200,
        ...(cursor ? { cursor } : {}),
      })
      expect(Buffer.byteLength(String(content.timeline)) / 4).toBeLessThanOrEqual(200)
      seen.push(...[...String(content.timeline).matchAll(/\((evt_\d+)\)/g)].map((match) => match[1]!))
      cursor = content.next_cursor as string | null
      if (cursor) expect(text).toContain(`call again with cursor ${cursor}`)
    }
    expect(new Set(seen).size).toBe(30)
    expect(seen).toHaveLength(30)
  })

  it('count what changed, and list entities a page at a time', async () => {
    const counted = await use('stats', { by: 'service', window: '1h' })
    expect(counted.content.total).toEqual({ now: 31, before: 0 })
    expect((await use('list_entities')).text).toContain(
      'service (names entities), 2 values: cart (30), checkout (1)',
    )
    const first = await use('list_entities', { label: 'service', limit: 1 })
    const second = await use('list_entities', {
      label: 'service',
      limit: 1,
      cursor: first.content.next_cursor,
    })
    expect(second.text).toContain('checkout (1)')
    expect(second.content.next_cursor).toBeNull()
  })

  it('read all names of a joined entity, and say what is around it', async () => {
    const entity = { name: 'paying', is: ['service=checkout', 'service=till'], owned_by: ['team=shop'] }
    await svc.call('POST', '/api/entities/joined', entity)
    const { text, content } = await use('read', { selector: { service: 'till' }, window: '1h' })
    expect(content).toMatchObject({ count: 1, names: ['service=till', 'service=checkout'] })
    expect(text).toContain('service=till (names of one thing: service=till, service=checkout)')
    const around = await use('neighbours', { label: 'service', value: 'checkout' })
    expect(around.text).toContain('is owned by team=shop (by a rule)')
    expect(around.content.neighbours).toMatchObject([{ edge: 'owned_by', by: 'rules', last_seen: null }])
    await svc.call('DELETE', '/api/entities/joined/paying')
    expect((await use('read', { selector: { service: 'till' } })).content.count).toBe(0)
  })

  it('say why an event fired each trigger', async () => {
    const { content } = await use('read', { selector: { service: 'checkout' } })
    const id = /\((evt_\d+)\)/.exec(String(content.timeline))![1]!
    const { content: told } = await use('why', { id })
    expect((told.records as Fields[])[0]).toMatchObject({ trigger: 'any' })
  })

  it('take an id by its one name, and by the names it had before', async () => {
    const { content } = await use('read', { selector: { service: 'checkout' } })
    const id = /\((evt_\d+)\)/.exec(String(content.timeline))![1]!
    for (const name of ['get_event', 'why']) {
      const { content: answered } = await use(name, { event_id: id })
      expect(answered.event_id).toBe(id)
      for (const before of ['id', 'event'])
        expect((await use(name, { [before]: id })).content).toEqual(answered)
      expect((await call(client, name, { event_id: id, id })).text).toContain('id')
    }
    const made = await use('remember', { key: 'checkout', label: 'service', content: 'By its older name.' })
    expect(made.content.event_id).toBe(made.content.event)
  })

  it('read a timeline by labels in a list or a map, with at most so many lines', async () => {
    const map = await use('read', { selector: { service: 'cart' }, limit: 3 })
    expect(map.content.count).toBe(3)
    const list = await use('read', {
      selector: [{ label: 'service', value: 'cart' }],
      limit: 3,
      cursor: null,
      from: '',
    })
    expect(list.content.timeline).toBe(map.content.timeline)
    // The newest, not the rarest.
    for (const n of [27, 28, 29]) expect(map.content.timeline).toContain(`message ${n} `)
    const next = { selector: { service: 'cart' }, cursor: map.content.next_cursor }
    const { content } = await use('read', { ...next, limit: 3 })
    for (const n of [24, 25, 26]) expect(content.timeline).toContain(`message ${n} `)
    expect((await call(client, 'read', { ...next, limit: 4 })).text).toContain('cursor')
  })

  it('say of an entity without events in the window when it was last seen', async () => {
    const range = { from: '2001-01-01T00:00:00Z', to: '2001-01-02T00:00:00Z' }
    const { content, text } = await use('read', { selector: { service: 'cart' }, ...range })
    const id = /\((evt_\d+)\)\. Widen the window to reach it/.exec(text)![1]!
    expect(content.count).toBe(0)
    expect(text).toContain(`no events in this window; last seen ${content.last_seen}`)
    expect(text).toContain(`: kind29 of web (${id})`)
    const event = await use('get_event', { event_id: id })
    expect(content.last_seen).toBe(event.content.event_time)
    const never = await use('read', { selector: { service: 'nobody' } })
    expect(never.content.last_seen).toBeNull()
    expect(never.text).toContain('no events in this window, nor at any other time')
    const slip = 'no event has service=chekout (did you mean checkout?)'
    expect((await use('read', { selector: { service: 'chekout' } })).text).toContain(`\n${slip}`)
    const around = await use('neighbours', { label: 'service', value: 'chekout' })
    expect(around.text).toContain(`no neighbours found: ${slip}`)
    const lost = await use('neighbours', { label: 'svc', value: 'checkout' })
    expect(lost.text).toContain('no neighbours found: no event has the label svc')
  })

  it('record a finding that is then listed, read and on the timeline', async () => {
    const made = await use('record_finding', {
      project: 'Shop',
      entity: 'checkout',
      label: 'service',
      finding: '**It broke.** See evt_1.',
      headline: 'Checkout broke',
      next_step: 'Roll back',
      verdict: 'investigate',
    })
    expect(made.content).toMatchObject({ agent: 'test-client', project, verdict: 'investigate' })
    const listed = await use('list_findings', { project: 'Shop', entity: 'checkout' })
    expect((listed.content.findings as Fields[])[0]).toMatchObject({ headline: 'Checkout broke', cut: false })
    const one = await use('get_finding', { id: made.content.id, project })
    expect(one.content).toMatchObject({ note: '**It broke.** See evt_1.', next_step: 'Roll back' })
    expect((await use('get_finding', { finding_id: made.content.id })).content).toMatchObject({ project })
    const other = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Depot' })
    svc.clock.at += 1_000
    await use('record_finding', { project: 'Depot', entity: 'service=cart', finding: 'It **holds**.' })
    const all = await use('list_findings', { limit: 1 })
    expect(all.text).toMatch(/ service=cart by test-client \(run_\w+\) in Depot\nIt holds\./)
    expect(all.content).toMatchObject({ project: null, findings: [{ project: other.id, trigger: null }] })
    expect(all.content.url).toMatch(/\/findings$/)
    const older = await use('list_findings', { limit: 1, cursor: all.content.next_cursor })
    expect(older.content).toMatchObject({
      findings: [{ project, project_name: 'Shop', verdict: 'investigate', next_step: 'Roll back' }],
      next_cursor: null,
    })
    const named = async (entity: string) =>
      ((await use('list_findings', { entity, limit: 1 })).content.findings as Fields[]).map(
        (one) => one.entity,
      )
    expect([await named('service=checkout'), await named('svc=checkout')]).toEqual([['checkout'], []])
    expect((await call(client, 'list_findings', { cursor: 'x' })).error).toMatchObject({ field: 'cursor' })
    await svc.call('DELETE', `/api/projects/${other.id}`)
    const timeline = await use('project_timeline', { project })
    expect(timeline.text).toContain('checkout: Checkout broke [investigate]; next: Roll back')
    expect((await use('read', { selector: { service: 'checkout' } })).text).toContain('Checkout broke')
  })

  it('remember, list and load skills', async () => {
    const { content } = await use('remember', {
      key: 'cart',
      label: 'service',
      content: 'moved to the new host',
    })
    expect(content).toMatchObject({ stored: true })
    const unnamed = await use('remember', { entity: 'cart', content: 'without a label' })
    expect(unnamed.text).toMatch(/^remembered on the timeline of key=cart \(evt_\d+\)\. No label was named/)
    expect((await use('list_skills')).text).toBe('refunds: How to refund.')
    expect((await use('skill', { name: 'refunds' })).text).toBe('# Do')
    const unknown = await call(client, 'skill', { name: 'returns' })
    expect(unknown).toMatchObject({ isError: true, text: 'no skill is named returns; there are refunds' })
  })

  it('list projects, join one and leave it', async () => {
    const listed = await use('list_projects')
    expect((listed.content.projects as Fields[]).map(({ name }) => name)).toContain('Shop')
    const joined = await use('join_project', { project: 'Shop', url: 'http://127.0.0.1:9/hook' })
    expect(joined.content).toMatchObject({ project, existing: false })
    expect(joined.content.secret).toMatch(/^whsec_/)
    await use('leave_project', { subscription_id: joined.content.subscription_id })
    expect(await svc.get('/api/subscriptions')).toEqual({ subscriptions: [], next_before: null })
  })

  it('hold a project, release it and finish one, held or not', async () => {
    expect((await use('hold_project', { project: 'Shop' })).content).toMatchObject({ held_by: 'crew' })
    expect((await call(client, 'hold_project', { project: 'Shop' })).text).toContain('is held by a crew')
    await svc.post(`/api/projects/${project}/takeover`)
    expect((await use('release_project', { project: 'Shop' })).content).toMatchObject({ held_by: null })
    await svc.post(`/api/projects/${project}/takeover`)
    const words = 'Moved the hooks; alerts are left.'
    expect((await use('finish_project', { project: 'Shop', words })).content).toMatchObject({
      released: true,
    })
    const again = await use('finish_project', { project: 'Shop', words })
    expect(again.content).toMatchObject({ released: false })
    expect(again.content.finding).not.toBeNull()
    const nothing = await call(client, 'finish_project', { project: 'Shop' })
    expect(nothing.text).toBe('nobody holds Shop; give words to record what was done')
  })

  it('wait for a firing, hold it longer and end it, with a finding or without', async () => {
    const args = { trigger: 'any', timeout_seconds: 0 }
    await use('wait_for_firing', args)
    const held = async (service: string) => {
      svc.clock.at += MINUTE
      await svc.post(`/ingest/${ingest}`, { service, type: 'order', message: 'failed' })
      const { content } = await use('wait_for_firing', args)
      const { delivery_id, lease } = content.firing as Fields
      return { subscription_id: content.subscription_id, delivery_id, lease }
    }
    const first = await held('lease')
    expect((await use('extend_lease', first)).text).toContain('yours until ')
    await use('ack_firing', first)
    const said = { entity: 'lease', finding: 'It failed.', project: 'Shop' }
    const { content } = await use('conclude', { ...(await held('lease')), ...said })
    expect(content).toMatchObject({ acknowledged: true, finding: expect.stringMatching(/^run_/) })
    await use('leave_project', { subscription_id: first.subscription_id })
  })

  it('show the names of each kind that is declared, none too', async () => {
    for (const kind of ['agent', 'mcp_server'])
      expect((await use('get_part', { kind })).text).toMatch(new RegExp(`^there is no ${kind}\\n`))
    await svc.post('/api/agents/builtin', { name: 'first', prompt: 'Look.' })
    await svc.post('/api/mcp-servers', { name: 'tickets', url: 'http://127.0.0.1:9/mcp' })
    expect((await use('get_part', { kind: 'agent' })).content).toMatchObject({ names: ['first'] })
    expect((await use('get_part', { kind: 'mcp_server' })).content).toMatchObject({ names: ['tickets'] })
  })

  it('show what is declared, propose a change of it, and apply one', async () => {
    expect((await use('get_part', { kind: 'trigger' })).text).toMatch(/^any\n\{"type":"object".*"cooldown"/)
    const { content } = await use('get_part', { kind: 'trigger', name: 'any' })
    expect(JSON.parse(String(content.text))).toMatchObject({ sources: ['web'], cooldown: '1s' })
    const { text: shop } = await use('get_part', { kind: 'project', name: 'Shop' })
    expect(shop).toMatch(/^{"uses":{"skill":{"\w+":{}}},"wakes":\[\],"handoffs":\[\]}$/)
    const slower = { op: 'patch', kind: 'trigger', name: 'any', spec: { cooldown: '1m' } }
    const proposed = await use('propose_change', { operations: [slower], why: 'too noisy' })
    expect(proposed.text).toContain('update trigger any: /cooldown')
    const id = { id: proposed.content.proposal_id }
    expect((await use('get_proposal', id)).content).toMatchObject({ state: 'open', why: 'too noisy' })
    expect((await use('withdraw_proposal', id)).content).toMatchObject({ state: 'withdrawn' })
    const dry = await use('apply_change', { operations: [slower], dry_run: true })
    expect(dry.content).toMatchObject({ change_set: null, proposal_id: expect.stringMatching(/^prop_/) })
    const { content: applied } = await use('apply_change', { operations: [slower], why: 'too noisy' })
    expect(await svc.get(`/api/change-sets/${applied.change_set}`)).toMatchObject({
      origin: 'mcp',
      why: 'too noisy',
    })
    expect((await use('apply_change', { operations: [slower] })).text).toBe('nothing changed')
    const newest = await use('undo_change')
    expect(newest.text).toMatch(new RegExp(`^${applied.change_set} .* by .*: trigger any: cooldown\\n`))
    const undone = await use('undo_change', { change_set: applied.change_set })
    expect(undone.text).toBe(
      `change-set ${applied.change_set}: undone by change-set ${undone.content.change_set}\nupdate trigger any: /cooldown`,
    )
    expect(await svc.get('/api/triggers/any')).toMatchObject({ cooldown: '1s' })
    expect((await use('undo_change')).text).toContain(`(undone by ${undone.content.change_set})`)
  })

  it('discover an upstream, within a budget', async () => {
    const items = Array.from({ length: 900 }, (_, id) => ({ id, host: `h${id}`, note: 'x'.repeat(150) }))
    const api = await startReceiver(say(200, {}, JSON.stringify({ items })))
    try {
      expect((await use('list_connectors', { name: 'http_poll' })).content).toMatchObject({
        connectors: [{ name: 'http_poll', mode: 'poll', discover: true }],
      })
      const config = { url: api.url, credential: 's3cret' }
      const found = await use('discover_source', { connector: 'http_poll', config })
      expect(found.text).toContain('900 entries at items. Told apart by id.')
      expect(JSON.stringify(found)).not.toContain('s3cret')
      expect(found.content).toMatchObject({
        connector: 'http_poll',
        proposed_config: { url: api.url, payload_key: 'items', id_field: 'id' },
        found: { per_poll: 900, sample_fields: { host: 'h0' } },
        cut: false,
      })
      await api.close()
      const away = await call(client, 'discover_source', { connector: 'http_poll', config })
      expect([away.isError, away.text]).toEqual([true, expect.stringContaining('the API cannot be reached')])
    } finally {
      await api.close().catch(() => {})
    }
  })

  it('look at sources, try one and make it', async () => {
    expect((await use('list_sources')).text).toMatch(/^web \(webhook, active, /m)
    expect((await use('source_fields', { name: 'web' })).text).toContain('service: in 100 %')
    const scan = await use('discover_docker')
    expect(scan.text).toContain('api_logs (docker_logs): Logs of service api of project shop')
    expect(scan.content.proposed_sources).toMatchObject([{ name: 'api_logs', config: { container: 'api' } }])
    expect((await use('list_connectors', { name: 'webhook' })).text).toContain('event_type_field')
    const given = { ...SOURCE, name: 'ci' }
    expect((await use('test_source', given)).content).toMatchObject({ ok: true })
    const made = await use('create_source', { ...given, project: 'Shop' })
    expect(made.content).toMatchObject({ name: 'ci', project, ingest_token: null })
    await svc.post(String(made.content.ingest_path), { service: 'cart', type: 'built' })
  })

  it('list runs and read one', async () => {
    const { world, url } = await serveRuns()
    await world.agent({ name: 'first-look', trigger: 't', prompt: 'Look.', model: 'm1' })
    world.models.reply('m1', () => conclude())
    await world.post({ service: 'checkout', type: 'error', msg: 'cannot pay' })
    await world.settled()
    const other = await startMcp(url)
    try {
      const reader = await other.connect()
      await reader.listTools()
      const { content, text } = await called(reader, 'list_runs')
      const [run] = content.runs as Fields[]
      expect(run).toMatchObject({ status: 'succeeded', outcome: 'finding' })
      const read = await called(reader, 'get_run', { id: run!.id })
      expect(read.content).toMatchObject({ finding: 'The certificate ended.', cut: false })
      const cost = Number((run!.cost_usd as number).toPrecision(3))
      for (const told of [text, read.text]) {
        expect(told).toContain(`, woken by trigger ${run!.trigger}: succeeded`)
        expect(told).toContain(`, $${cost}`)
      }
      const steps = read.content.steps as { what: string }[]
      expect(steps.length).toBeGreaterThan(2)
      // What it was told first is longer than is shown of a step.
      expect(steps[0]!.what).toMatch(/…$/)
      used.add('list_runs').add('get_run')
    } finally {
      await other.stop()
    }
  })

  it('issue 17, 2.3: look as the agents of the service do, with links for a person', async () => {
    const changed = await use('changed', { selector: { service: 'cart' }, window: '15m' })
    expect(changed.text).toMatch(/^What changed in .* against the 2h before/)
    expect(changed.content.url).toMatch(/\/explore\?l=service%3Dcart&from=2026.*&to=2026/)
    const series = await use('series', { selector: { service: 'cart' }, window: '15m' })
    expect(series.text).toMatch(/no numbers; events: \d+/)
    const id = 'a'.repeat(32)
    await svc.post(`/ingest/${ingest}`, { service: 'web', type: 'log', message: `late trace_id=${id}` })
    const traced = await use('trace', { trace_id: 'aaaaaaaa' })
    expect(traced.text).toContain(`Trace ${id}: 1 event or span of 1 source`)
    expect((await use('document')).text).toContain('0 reference documents')
    const [event] = /evt_\d+/.exec(traced.text)!
    const page = await use('get_event', { event_id: event, max_tokens: 200 })
    expect(page.content).toMatchObject({ url: `${svc.url}/events/${event}`, event_type: 'log' })
  })

  it('name the events whose payloads had no room, and how to see them', async () => {
    const stack = 'frame '.repeat(40_000)
    await svc.post(`/ingest/${ingest}`, { service: 'large', type: 'crashed', message: 'short', stack })
    const asked = { selector: { service: 'large' }, window: '1h', include_payload: true }
    const { text, content } = await use('read', asked)
    const [id] = content.unfit as string[]
    expect(content).toMatchObject({ count: 1, payloads: [], unfit: [expect.stringMatching(/^evt_/)] })
    expect(text).toContain(`No room for 1 payload (${id}): get_event shows one in pages`)
    expect((await use('get_event', { id })).content.payload).toContain('frame frame')
  })

  it('A13: show control bytes of an event as escapes, and its payload as it was', async () => {
    const message = 'paid \u001b[2J\u202egnp'
    await svc.post(`/ingest/${ingest}`, { service: 'esc', type: 'paid', message })
    const { text, content } = await use('read', {
      selector: { service: 'esc' },
      window: '1h',
      include_payload: true,
    })
    for (const shown of [text, String(content.timeline)]) {
      expect(shown).toContain('paid \\u001b[2J\\u202egnp')
      for (const control of ['\u001b', '\u202e']) expect(shown).not.toContain(control)
    }
    const [{ payload }] = content.payloads as [{ payload: string }]
    expect(JSON.parse(payload)).toMatchObject({ message })
  })

  it('list incidents, read one, take it and end it; who comes second is told who has it', async () => {
    const { text, content } = await use('list_incidents')
    const all = content.incidents as { incident_id: string; entity: string; project: string }[]
    const first = all.find(({ entity }) => entity === 'service=checkout')!
    expect(first).toMatchObject({ state: 'open', trigger: 'any', severity: 'warning' })
    expect(text).toContain(`${first.incident_id} warning, open`)
    expect(content.url).toMatch(/\/incidents$/)
    const { incident_id } = first
    const whole = await use('get_incident', { incident_id })
    expect(whole.content).toMatchObject({ incident_id, state: 'open', note: '**It broke.** See evt_1.' })
    expect(whole.content.url).toMatch(new RegExp(`/incidents/${incident_id}$`))
    const [event] = whole.content.event_ids as string[]
    expect(whole.text).toContain(`(${event})`)
    expect((await use('get_incident', { incident: incident_id })).content).toEqual(whole.content)

    const taken = await use('acknowledge_incident', { incident_id })
    expect(taken.content).toMatchObject({ incident_id, state: 'acknowledged', assignee: 'test-client' })
    // Said twice by one, as where an answer got lost.
    expect((await use('acknowledge_incident', { incident_id })).content).toEqual(taken.content)

    // The incident says which project it is about, and an id which finding.
    const made = await use('record_finding', {
      entity: 'checkout',
      label: 'service',
      finding: `The order was paid (${event}).`,
      headline: 'Paid',
      claims: [{ text: 'It was paid.', events: [event], quote: 'paid' }],
    })
    expect(made.content.project).toBe(first.project)
    const finding_id = made.content.finding_id as string
    expect((await use('get_finding', { finding_id })).content).toMatchObject({
      finding_id,
      project: first.project,
    })
    const found = await use('get_incident', { incident_id })
    expect(found.content).toMatchObject({ finding_id, claims: [{ ok: true, events: [event] }] })
    expect(found.text).toContain(`1 of 1 claim holds\n- cause: It was paid. (${event})`)

    const ended = await use('handle_incident', { incident_id })
    expect(ended.content).toMatchObject({ incident_id, state: 'handled' })
    expect((await use('handle_incident', { incident_id })).content).toEqual(ended.content)
    const late = await call(client, 'acknowledge_incident', { incident_id })
    expect(late).toMatchObject({ isError: true, text: expect.stringContaining('handled, by test-client') })

    const other = all.find(({ entity }) => entity === 'service=cart')!.incident_id
    const { version } = await svc.get<{ version: number }>(`/api/incidents/${other}`)
    await svc.post(`/api/incidents/${other}/acknowledge`, { version, by: 'mara' })
    const again = await call(client, 'acknowledge_incident', { incident_id: other })
    expect(again).toMatchObject({
      isError: true,
      text: `${other} is acknowledged: mara has it; list_incidents has what is open`,
    })
  })

  it('are all called by these tests', () => {
    expect([...used].sort()).toEqual(tools.map(({ name }) => name).sort())
  })
})
