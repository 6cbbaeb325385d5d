/** What an agent is told holds: of nothing found, of what is too large, of claims, and of names as other tools write them. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokensOf } from '../../../api/mcp/paging.ts'
import type { Fields, Instance } from '../../contract/instance.ts'
import { call, called } from './mcp-world.ts'
import { openShop, type Shop } from './shop-world.ts'

let shop: Shop
let svc: Instance
let client: Client
let project: string

beforeAll(async () => {
  shop = await openShop()
  ;({ svc, client, project } = shop)
})
afterAll(() => shop?.close())

const use = (name: string, args: Fields = {}) => called(client, name, args)

describe('read', () => {
  it('a text alone that nothing has is an answer, not a refusal', async () => {
    const { text, content } = await use('read', { text: 'zzznothing' })
    expect(text).toMatch(/^all sources, .*\nno such events in this window$/)
    expect(content.count).toBe(0)
    expect(content).not.toHaveProperty('last_seen')
  })

  it('says that the window has others, where types or words leave them out', async () => {
    const cart = { selector: { service: 'cart' }, window: '1h' }
    for (const more of [{ event_types: ['errr'] }, { text: 'nosuchtext' }]) {
      const { text } = await use('read', { ...cart, ...more })
      expect(text).toMatch(
        /no such events in this window; it has others, the newest \S+: kind29 of web \(evt_\d+\). Leave out event_types, sources or text to see them$/,
      )
    }
  })

  it('with the smallest budget each page has a row', async () => {
    // A label of its own is as long as the whole budget.
    const many = { service: `basket-${'x'.repeat(200)}` }
    for (let n = 0; n < 3; n++)
      await svc.post(`/ingest/${shop.ingest}`, { ...many, type: `kind${n}`, message: 'm' })
    let cursor: unknown
    let pages = 0
    do {
      const asked = { selector: many, window: '1h', max_tokens: 200 }
      const { content } = await use('read', cursor === undefined ? asked : { ...asked, cursor })
      expect(content.count).toBeGreaterThan(0)
      cursor = content.next_cursor
    } while (cursor !== null && ++pages < 100)
    expect(cursor).toBeNull()
  })
})

describe('bounds', () => {
  it('a source with many long labels is described within one page', async () => {
    const labels = Array.from({ length: 41 }, (_, i) => ({ name: `label_${i}`, field: `f${i}` }))
    const { ingest_key } = await svc.post<{ ingest_key: string }>('/api/sources', {
      name: 'wide',
      connector: 'webhook',
      config: { labels },
    })
    for (let n = 0; n < 12; n++)
      await svc.post(
        `/ingest/${ingest_key}`,
        Object.fromEntries(labels.map(({ field }, i) => [field, `${n}-${i}-${'v'.repeat(250)}`])),
      )
    const { text } = await use('catalog_describe', { handle: 'source:wide' })
    expect(tokensOf(text)).toBeLessThan(6_100)
    expect(text).toContain('source:wide: webhook, push, active')
    expect(text).toContain('  label_0, string: ')
    const { content } = await use('read', { sources: ['wide'], limit: 1 })
    const [, id] = /\((evt_\d+)\)/.exec(content.timeline as string)!
    const event = await use('get_event', { event_id: id, max_tokens: 200 })
    expect(tokensOf(event.text)).toBeLessThan(320)
  })
})

describe('findings', () => {
  it('are found by the entity as other tools write it, and told with their label and claims', async () => {
    const made = await use('record_finding', {
      project: 'Shop',
      entity: 'cart',
      label: 'service',
      finding: 'The cart fails: order_api answers late.',
      claims: [
        { text: 'It said message 3', events: ['evt_5'], quote: 'message 3' },
        { text: 'It was slow', events: ['evt_6'], role: 'effect' },
      ],
    })
    for (const entity of ['cart', 'service=cart']) {
      const { content, text } = await use('list_findings', { project: 'Shop', entity })
      expect(content.findings).toMatchObject([
        { label: 'service', entity: 'cart', verified: { ok: 1, total: 2 } },
      ])
      expect(text).toContain('service=cart by test-client')
      expect(text).toContain('1 of 2 claims holds')
    }
    expect((await use('list_findings', { project: 'Shop', entity: 'region=cart' })).text).toBe('no findings')
    const one = await use('get_finding', { finding_id: made.content.finding_id, project })
    expect(one.content.claims).toEqual([
      'cause: It said message 3; holds (evt_5)',
      expect.stringMatching(/^effect: It was slow; unproved: .* \(evt_6\)$/),
    ])
    expect(one.text).toContain('claim: cause: It said message 3; holds (evt_5)')
    expect((await use('get_run', { run_id: made.content.finding_id })).text).toContain(
      'claim: cause: It said message 3; holds (evt_5)',
    )
    expect((await use('project_timeline', { project })).text).toContain(
      'service=cart: The cart fails: order_api answers late.',
    )
  })

  it('a cursor that is none of the tool is called so', async () => {
    expect(await call(client, 'project_timeline', { project, cursor: 'garbage' })).toMatchObject({
      isError: true,
      text: 'cursor must be next_cursor of an earlier answer of this tool',
    })
  })
})

describe('changes', () => {
  it('wiring is taken as it is told, and by name; what is neither is refused and changes nothing', async () => {
    await svc.post('/api/agents/builtin', { name: 'looker', prompt: 'Look.', project })
    await svc.post('/api/agents/builtin', { name: 'digger', prompt: 'Dig.', project })
    const patch = (spec: Fields) =>
      call(client, 'apply_change', { operations: [{ op: 'patch', kind: 'project', name: 'Shop', spec }] })
    const wiring = async () => {
      const { text } = await use('get_part', { kind: 'project', name: 'Shop' })
      const { uses, ...rest } = JSON.parse(text) as Fields
      expect(uses).toMatchObject({ agent: { digger: {}, looker: {} }, trigger: { any: {} } })
      return rest
    }
    const whole = {
      wakes: [{ trigger: 'any', agent: 'looker', enabled: true }],
      handoffs: [{ agent: 'looker', verdict: 'dig', to: 'digger', cooldown: '1h' }],
    }
    expect((await patch(whole)).isError).toBe(false)
    expect(await wiring()).toEqual(whole)
    for (const wrong of [
      { wakes: { any: { looker: true } } },
      { wakes: { any: { looker: { enabled: 'banana' } } } },
      { wakes: { any: { looker: { on: true } } } },
      { wakes: [{ trigger: 'any' }] },
      { handoffs: [{ agent: 'looker', to: 'digger' }] },
      { handoffs: { looker: { dig: 'digger' } } },
      { wakes: 'any' },
    ]) {
      const refused = await patch(wrong)
      expect(refused, JSON.stringify(wrong)).toMatchObject({ isError: true })
      expect(refused.text).toContain(
        'wakes must be {trigger: {agent: {enabled: true or false}}} or a list of',
      )
    }
    expect(await wiring()).toEqual(whole)
    expect((await patch({ wakes: { any: { looker: { enabled: false } } } })).isError).toBe(false)
    expect(await wiring()).toEqual({ ...whole, wakes: [{ trigger: 'any', agent: 'looker', enabled: false }] })
  })

  it('of several operations the one that breaks a rule is named', async () => {
    const trigger = (name: string, spec: Fields) => ({ op: 'put', kind: 'trigger', name, spec })
    const refused = await call(client, 'apply_change', {
      operations: [
        trigger('one', { sources: ['web'], condition: { event: 'any' } }),
        trigger('two', { sources: ['web'] }),
      ],
    })
    expect(refused.text).toMatch(/^operations\[1\] \(trigger two\): condition is required/)
  })
})

it('lists what was found in a project that is deleted by its id, and names the projects there are for any other', async () => {
  const { id } = await svc.post<{ id: string }>('/api/projects', {
    template: 'custom',
    name: 'Yard',
    objects: [],
  })
  const finding = { project: 'Yard', entity: 'cart', label: 'service', finding: 'The yard is closed.' }
  const { content: made } = await called(client, 'record_finding', finding)
  await svc.del(`/api/projects/${id}`)
  const { content, text } = await called(client, 'list_findings', { project: id })
  expect(content.findings).toMatchObject([
    { finding_id: made.finding_id, project: id, project_deleted: true },
  ])
  expect(text).toContain('in Yard (deleted)')
  expect(await call(client, 'list_findings', { project: 'uc_0000000000' })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^project uc_0000000000 is not known; there are /),
  })
})
