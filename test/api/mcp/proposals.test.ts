/** What a credential that may only read proposes: nothing is written until a person approves, then exactly it. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Fields, type Instance, ROOT, startInstance } from '../../contract/instance.ts'
import { call, called, type McpWorld, startMcp } from './mcp-world.ts'

const CI = {
  name: 'ci',
  connector: 'webhook',
  config: { labels: [{ name: 'repo', field: 'repo', primary: true }] },
  project: 'Shop',
}

let svc: Instance
let mcp: McpWorld
let reader: Client
let root: Client

beforeAll(async () => {
  svc = await startInstance({ secured: true })
  await svc.post('/api/projects', { template: 'custom', name: 'Shop', objects: [] })
  const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'agent', scopes: ['read'] })
  mcp = await startMcp(svc.url)
  ;[reader, root] = [await mcp.connect(secret), await mcp.connect(ROOT)]
  await reader.listTools()
})
afterAll(async () => {
  await mcp?.stop()
  await svc?.stop()
})

const versionOf = async () => (await svc.get<Fields>('/api/change-sets?limit=1')).version
const stateOf = async (id: unknown) => (await called(reader, 'get_proposal', { id })).content
const operation = { op: 'put', kind: 'source', name: 'made', spec: { connector: 'webhook' } }

describe('with a read key', () => {
  it('a tool that writes is listed as one that proposes, and for others as it is', async () => {
    const of = async (client: Client) =>
      (await client.listTools()).tools.find(({ name }) => name === 'create_source')!.description!
    expect(await of(reader)).toBe(
      `With this credential only with dry_run: true, which proposes it to a person. ${await of(root)}`,
    )
    const refused = await call(reader, 'create_source', CI)
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining('Call it again with dry_run: true'),
    })
    expect((await call(reader, 'create_source', { ...CI, dry_run: false })).isError).toBe(true)
    expect((await call(reader, 'apply_change', { operations: [operation], dry_run: true })).isError).toBe(
      true,
    )
  })

  it('a source is proposed, and made when a person approves', async () => {
    const before = await versionOf()
    const { content, text } = await called(reader, 'create_source', { ...CI, dry_run: true })
    expect(text).toContain('nothing is written; a person decides')
    expect(content).toMatchObject({ change_set: null, ingest_path: null, ingest_token: null })
    expect(await versionOf()).toBe(before)
    expect((await svc.call('GET', '/api/sources/ci')).status).toBe(404)
    expect(await stateOf(content.proposal_id)).toMatchObject({ state: 'open', proposer: 'agent' })
    await svc.post(`/api/proposals/${content.proposal_id}/approve`)
    const decided = await stateOf(content.proposal_id)
    expect(decided).toMatchObject({ state: 'approved', change_set: expect.any(Number) })
    expect(await svc.get(`/api/change-sets/${decided.change_set}`)).toMatchObject({ origin: 'mcp' })
    expect(await svc.get('/api/sources/ci')).toMatchObject({ connector: 'webhook', config: CI.config })
    const again = await call(reader, 'create_source', { ...CI, dry_run: true })
    expect(again.text).toBe('a source is named ci already; propose_change with patch changes it')
  })

  it('a change that is declined comes back with the reason', async () => {
    const { content } = await called(reader, 'propose_change', { operations: [operation], why: 'to try' })
    expect(content).toMatchObject({ state: 'open', why: 'to try', more: 0 })
    await svc.post(`/api/proposals/${content.proposal_id}/decline`, { reason: 'not now' })
    const { text, content: declined } = await called(reader, 'get_proposal', { id: content.proposal_id })
    for (const { url } of [content, declined])
      expect(url).toMatch(new RegExp(`/changes\\?proposal=${content.proposal_id}$`))
    expect(text).toMatch(/is declined: creates source made.*\ndeclined by .*: not now\n/)
  })

  it.each<[string, Fields, string]>([
    ['nothing would change', { operations: [{ ...operation, op: 'delete' }] }, 'no source is named made'],
    ['a spec is wrong', { operations: [{ ...operation, spec: { connector: 'fax' } }] }, 'fax'],
    ['there is no operation', { operations: [] }, 'operations'],
  ])('a proposal is refused where %s', async (_case, args, sentence) => {
    const refused = await call(reader, 'propose_change', args)
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining(sentence) })
  })
})

it('an admin proposes with dry_run, too, and writes without', async () => {
  const { content } = await called(root, 'create_source', { ...CI, name: 'cd', dry_run: true })
  await called(root, 'withdraw_proposal', { id: content.proposal_id })
  expect(await stateOf(content.proposal_id)).toMatchObject({ state: 'withdrawn' })
  const made = await called(root, 'create_source', { ...CI, name: 'cd', dry_run: false })
  expect(made.content).toMatchObject({ proposal_id: null, change_set: expect.any(Number) })
})

it('moves a part to another project, as get_part says', async () => {
  await svc.post('/api/projects', { template: 'custom', name: 'Yard', objects: [] })
  const put = { op: 'put', kind: 'agent', name: 'mover', project: 'Shop', spec: { prompt: 'Look.' } }
  await called(root, 'apply_change', { operations: [put] })
  const uses = async (name: string) => {
    const { text } = await called(root, 'get_part', { kind: 'project', name })
    return (JSON.parse(text) as { uses: Record<string, object> }).uses.agent ?? {}
  }
  expect(await uses('Shop')).toHaveProperty('mover')
  expect((await called(root, 'list_projects')).text).toMatch(/^Shop .*; agents .*mover/m)
  expect((await called(root, 'get_part', { kind: 'project' })).text).toContain(
    '{"uses":{"agent":{"<agent>":{}}}}',
  )
  const part = (name: string, mover: object | null) => ({
    ...{ op: 'patch', kind: 'project', name },
    spec: { uses: { agent: { mover } } },
  })
  await called(root, 'apply_change', { operations: [part('Shop', null), part('Yard', {})] })
  expect([await uses('Shop'), await uses('Yard')]).toEqual([
    expect.not.objectContaining({ mover: {} }),
    { mover: {} },
  ])
})

it('tells what a change is warned of, where it is proposed, written, and read', async () => {
  await called(root, 'create_source', { ...CI, name: 'quiet', dry_run: false })
  const spec = {
    sources: ['quiet'],
    filters: [{ field: 'bogus', op: 'eq', value: 'x' }],
    condition: { event: 'any' },
  }
  const operations = [{ op: 'put', kind: 'trigger', name: 'deaf', spec }]
  const warning = /^(trigger deaf: )?filters\[0\]\.field names label bogus, which quiet will not have/
  const asked = { kind: 'trigger', name: 'deaf' }
  for (const [tool, args] of [
    ['propose_change', { operations }],
    ['apply_change', { operations }],
    ['get_part', asked],
  ] as const) {
    const { content, text } = await called(root, tool, args)
    expect(content.warnings, tool).toEqual([expect.stringMatching(warning)])
    expect(text).toContain(`\nwarning: ${(content.warnings as string[])[0]}`)
  }
  expect(JSON.parse((await called(root, 'get_part', asked)).content.text as string)).toMatchObject(spec)
})
