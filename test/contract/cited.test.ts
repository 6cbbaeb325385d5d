/** Findings of outside agents, held against what their key may read (issue 17, Part 2.5). */
import { describe, expect, it, onTestFinished } from 'vitest'
import { call, called, startMcp } from '../api/mcp/mcp-world.ts'
import { type Fields, type Instance, ROOT, startBeforeEach, startInstance } from './instance.ts'

const as = (token: string) => ({ authorization: `Bearer ${token}` })
let svc: Instance
let project: string
let secret: string
let own: string
let other: string

/** Events of a source. @returns the id of the last */
async function event(source: string, fields: Fields | Fields[]): Promise<string> {
  const { ingest_key: key } = await svc.get<{ ingest_key: string }>(`/api/sources/${source}`)
  const minted = (
    await svc.post<{ secret: string }>('/api/keys', { name: `in-${source}`, scopes: ['ingest'] })
  ).secret
  await svc.call('POST', `/ingest/${key}`, fields, as(minted))
  const { rows } = await svc.post<{ rows: Fields[] }>('/read', { sources: [source], window: '1h' })
  return String(rows.at(-1)!.id)
}

startBeforeEach(async () => {
  svc = await startInstance({ secured: true })
  for (const name of ['web', 'far'])
    await svc.post('/api/sources', {
      ...{ name, connector: 'webhook' },
      config: {
        labels: [
          { name: 'service', field: 'service', primary: true },
          { name: 'ms', field: 'ms', type: 'number' },
        ],
      },
    })
  project = (
    await svc.post<{ id: string }>('/api/projects', {
      ...{ template: 'custom', name: 'Shop' },
      objects: [{ kind: 'source', name: 'web' }],
    })
  ).id
  secret = (await svc.post<{ secret: string }>(`/api/projects/${project}/keys`, { name: 'scout' })).secret
  own = await event('web', { service: 'checkout', message: 'took 1,200 ms', order: 'ORD-7' })
  other = await event('far', { service: 'vault', message: 'opened' })
  return svc
})

const record = (body: Fields) =>
  svc.call<Fields>(
    'POST',
    `/api/projects/${project}/findings`,
    { entity: 'checkout', finding: 'It is slow.', ...body },
    as(secret),
  )

describe('issue 17, 2.5: a finding of an outside agent', () => {
  it('has its claims checked, stored and shown', async () => {
    const { status, body } = await record({
      claims: [
        { text: 'It took 1.2 s.', events: [own], number: 1200 },
        { text: 'It was order 7.', events: [own], number: 7, role: 'effect' },
        { text: 'It is slow.', events: [own] },
      ],
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      claims: [
        { role: 'cause', ok: true, unproved: false },
        { role: 'effect', ok: false, why: 'none of its events has the number 7' },
        { role: 'context', ok: false, unproved: true },
      ],
      notices: [],
    })
    const run = await svc.get<Fields>(`/api/runs/${String(body.run_id)}`)
    expect(run).toMatchObject({ verified: { ok: 1, total: 3 }, claims: body.claims })
  })

  it('cites only events that exist and that its key may read', async () => {
    for (const id of [other, 'evt_999999']) {
      const { status, body } = await record({ claims: [{ text: 'Opened.', events: [id], quote: 'opened' }] })
      expect([status, body.detail]).toEqual([
        400,
        `claims[0].events: ${id} is no event that may be read here`,
      ])
    }
    const { findings } = await svc.get<{ findings: Fields[] }>(`/api/projects/${project}/findings`)
    expect(findings).toEqual([])
  })

  it('is told of an entity that no event has, and of ids in its text that are none', async () => {
    const { body } = await record({ entity: 'chekout', finding: `See ${own} and evt_999999.` })
    expect(body.notices).toEqual([
      'no event has service=chekout: if that is a mistake, record it again under the right name',
      'no event that may be read here: evt_999999',
    ])
  })

  it('is told that its verdict hands over to nobody, and who hands over on which, unless a trigger watches findings', async () => {
    const { body: before } = await record({ verdict: 'investigate' })
    expect(before.notices).toEqual([])
    const agent = { prompt: 'Look.', project }
    await svc.post('/api/agents/builtin', { name: 'digger', ...agent })
    const handoffs = [{ verdict: 'investigate', agent: 'digger' }]
    await svc.post('/api/agents/builtin', { name: 'triage', ...agent, handoffs })
    for (const verdict of ['investigate', 'odd']) {
      const { body } = await record({ verdict })
      expect(body.notices).toEqual([
        `verdict ${verdict} hands over to nobody: only agents of the project do by themselves (triage on investigate to digger); for yours a trigger over findings does, with the filters agent = scout and verdict = ${verdict}`,
      ])
    }
    expect((await record({})).body.notices).toEqual([])
    const condition = { event: 'any' }
    const watching = (name: string, filters: Fields[]) =>
      svc.post('/api/triggers', { name, sources: ['findings'], condition, filters, project })
    const verdict = { field: 'verdict', op: 'eq', value: 'investigate' }
    // One that takes the findings of another, or other verdicts, takes none of these.
    await watching('of-triage', [{ field: 'agent', op: 'eq', value: 'triage' }, verdict])
    await watching('other-verdicts', [{ ...verdict, op: 'neq' }])
    expect((await record({ verdict: 'investigate' })).body.notices).toHaveLength(1)
    expect((await record({ verdict: 'odd' })).body.notices).toEqual([])
    await watching('outside', [verdict, { field: 'text', op: 'contains', value: 'slow' }])
    expect((await record({ verdict: 'investigate' })).body.notices).toEqual([])
    await svc.post('/api/triggers/outside/pause', {})
    expect((await record({ verdict: 'investigate' })).body.notices).toEqual([
      'verdict investigate hands over to nobody: the trigger that watches such findings is paused (outside)',
    ])
  })

  it('is held to the same through svc mcp', async () => {
    const mcp = await startMcp(svc.url)
    onTestFinished(() => mcp.stop())
    const client = await mcp.connect(secret)
    const recorded = (id: string, more: Fields = {}) => ({
      ...{ entity: 'checkout', finding: 'It is slow.', ...more },
      claims: [{ text: 'It took 1.2 s.', events: [id], number: 1200 }],
    })
    for (const id of [other, 'evt_999999']) {
      const { isError, text } = await call(client, 'record_finding', recorded(id))
      expect([isError, text]).toEqual([
        true,
        expect.stringContaining(`${id} is no event that may be read here`),
      ])
    }
    expect((await called(client, 'list_findings', { project })).text).toBe('no findings')
    const { text, content } = await called(client, 'record_finding', recorded(own, { entity: 'chekout' }))
    expect(content).toMatchObject({ claims: [{ ok: true, unproved: false }] })
    expect(text).toContain('no event has service=chekout')
    const wrong = recorded(own)
    wrong.claims[0]!.number = 7
    const { content: checked } = await called(client, 'record_finding', wrong)
    expect(checked.claims).toEqual([
      expect.objectContaining({ ok: false, why: 'none of its events has the number 7' }),
    ])
    // Of a project that is deleted it is read by who reads all.
    await svc.del(`/api/projects/${project}`)
    const listed = await called(await mcp.connect(ROOT), 'list_findings', {})
    expect(listed.text).toContain(' in Shop (deleted)')
    expect(listed.content.findings).toContainEqual(
      expect.objectContaining({ project, project_name: 'Shop', project_deleted: true }),
    )
  })

  it('may cite numbers that lines of the tools told its own key', async () => {
    for (const ms of [40, 50, 61]) await event('web', { service: 'cart', ms, message: 'served' })
    const asked = { tool: 'series', selector: { service: 'cart' }, window: '1h' }
    const look = (token: string) =>
      svc.call<{ events: { id: string }[] }>('POST', '/api/inspect', asked, as(token))
    const cite = async (id: string) => {
      const claims = [{ text: 'The median is 50 ms.', events: [id], number: 50 }]
      return (await record({ entity: 'cart', claims })).body.claims
    }
    const reader = await svc.post<{ secret: string }>('/api/keys', { name: 'else', scopes: ['read'] })
    const newest = (await look(reader.secret)).body.events.at(-1)!.id
    expect(await cite(newest)).toMatchObject([{ ok: false, why: 'none of its events has the number 50' }])
    expect((await look(secret)).body.events).toContainEqual({ id: newest, count: 1, numbers: [61, 50] })
    expect(await cite(newest)).toMatchObject([{ ok: true, why: null }])
  })

  it('may count the events that a line of the tools stood for', async () => {
    await event(
      'web',
      Array.from({ length: 60 }, () => ({ service: 'cart', message: 'refused' })),
    )
    const asked = { tool: 'changed', selector: { service: 'cart' }, window: '1h' }
    const { events } = (
      await svc.call<{ events: { id: string; count: number }[] }>('POST', '/api/inspect', asked, as(secret))
    ).body
    const line = events.find(({ count }) => count > 1)!
    const claims = [{ text: 'It was refused each time.', events: [line.id], count: line.count }]
    expect((await record({ entity: 'cart', claims })).body.claims).toMatchObject([{ ok: true, why: null }])
    claims[0]!.count++
    expect((await record({ entity: 'cart', claims })).body.claims).toMatchObject([{ ok: false }])
  })
})
