/** Firings that outside agents wait for, through svc mcp: one holder, a lease, an end with or without a finding. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as calls from '../../../api/client/calls.ts'
import { type Fields, type Instance, startInstance } from '../../contract/instance.ts'
import { eventually } from '../../eventually.ts'
import { call, called, type McpWorld, startMcp } from './mcp-world.ts'

const LEASE = 5
const WAIT = { trigger: 't', lease_seconds: LEASE }

let svc: Instance
let mcp: McpWorld
let ingest: string

beforeEach(async () => {
  await begin(await startInstance())
})
afterEach(async () => {
  await mcp?.stop()
  await svc?.stop()
})

/** A source, a project and a trigger of it that every event trips. */
async function begin(instance: Instance) {
  svc = instance
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const source = { name: 'web', connector: 'webhook', config: { labels } }
  ingest = `/ingest/${(await svc.post<{ ingest_key: string }>('/api/sources', source)).ingest_key}`
  await svc.post('/api/projects', { template: 'custom', name: 'Shop', objects: [] })
  const condition = { event: 'any' }
  await svc.post('/api/triggers', { name: 't', sources: ['web'], condition, cooldown: '1s', project: 'Shop' })
  mcp = await startMcp(svc.url)
}

async function fire(service = 'pay') {
  svc.clock.at += 2_000
  await svc.post(ingest, { service, message: 'broke' })
}

/** Moves the time to the end of a lease, and does what the daemon does then. */
async function lapse() {
  svc.clock.at += LEASE * 1000
  await svc.engine.claimDeliveries(16, [])
}

/** A client without a session. */
async function connectModern(token?: string): Promise<ModernClient> {
  const client = new ModernClient(
    { name: 'modern', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp.url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

/** Posts one message in a session, as a client does that keeps no stream of notifications. @returns the session, and what came */
async function postLegacy(token: string, session: string | null, id: number, method: string, params: Fields) {
  const answer = await fetch(mcp.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
      ...(session === null ? {} : { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  })
  return { session: answer.headers.get('mcp-session-id'), text: await answer.text() }
}

type Firing = Fields & { delivery_id: string; lease: string }
const wait = async (client: Client, args: Fields = {}) =>
  (await called(client, 'wait_for_firing', { ...WAIT, ...args })).content
const firingOf = (content: Fields) => content.firing as Firing | null
const look = async (client: Client, args: Fields = {}) =>
  firingOf(await wait(client, { timeout_seconds: 0, ...args }))
const holding = (content: Fields) => ({
  subscription_id: content.subscription_id,
  delivery_id: firingOf(content)!.delivery_id,
  lease: firingOf(content)!.lease,
})
const statusOf = async ({ delivery_id }: Fields) =>
  (await svc.get<Fields>(`/api/deliveries/${delivery_id}`)).status
/** Fetches that the daemon was asked for; each resolves when it is answered, or its caller has gone. */
const fetches = () => {
  const spied = vi.spyOn(svc.engine, 'fetchFiring')
  return {
    begun: (count: number) => eventually(() => expect(spied).toHaveBeenCalledTimes(count)),
    ended: (n: number) => spied.mock.results[n]!.value as Promise<unknown>,
  }
}

describe('a wait whose key is revoked', () => {
  const LONGEST = { ...WAIT, timeout_seconds: 55 }
  const inSession = async (token: string): Promise<string> => {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    }
    const { session } = await postLegacy(token, null, 1, 'initialize', hello)
    const asked = { name: 'wait_for_firing', arguments: LONGEST }
    return (await postLegacy(token, session, 2, 'tools/call', asked)).text
  }
  const withoutSession = async (token: string): Promise<string> => {
    const client = await connectModern(token)
    return JSON.stringify(await client.callTool({ name: 'wait_for_firing', arguments: LONGEST }))
  }

  // Less than the wait itself would last.
  it.each([
    ['in a session without a stream', inSession],
    ['without a session', withoutSession],
  ])('ends within a second, with the reason: %s', { timeout: 50_000 }, async (_case, waitWith) => {
    await mcp.stop()
    await svc.stop()
    await begin(await startInstance({ secured: true }))
    const { begun } = fetches()
    const key = await svc.post<{ id: string; secret: string }>('/api/keys', { name: 'a', scopes: ['read'] })
    const waiting = waitWith(key.secret)
    await begun(1)
    await svc.del(`/api/keys/${key.id}`)
    mcp.pass(1_000)
    expect(await waiting).toContain('does not know this credential')
    await eventually(() => expect(mcp.sessions.size).toBe(0))
  })
})

describe('a firing that is waited for', () => {
  it('comes with what is needed to look at it, and with progress until then', async () => {
    const client = await mcp.connect()
    const first = await called(client, 'wait_for_firing', { ...WAIT, timeout_seconds: 0 })
    expect(first.content).toMatchObject({ existing: false, firing: null })
    expect(first.text).toContain('none came; the queue begins now')
    const { begun } = fetches()
    const told: string[] = []
    const waiting = client.callTool({ name: 'wait_for_firing', arguments: WAIT }, undefined, {
      onprogress: ({ message }) => void told.push(message ?? ''),
    })
    await begun(1)
    mcp.pass(2_000)
    await eventually(() => expect(told).toEqual(['waiting for a firing, 2 s']))
    await fire()
    const { structuredContent, content } = (await waiting) as { structuredContent: Fields; content: Fields[] }
    expect(structuredContent).toMatchObject({
      existing: true,
      firing: {
        trigger: 't',
        entity: { label: 'service', value: 'pay' },
        tries: 1,
        practice: false,
        lease_until: new Date(svc.clock.at + LEASE * 1000).toISOString(),
      },
    })
    expect(content[0]!.text).toMatch(/^t fired for service=pay at .*\n.*yours until .*\nconclude it with /)
    expect(firingOf(structuredContent)!.timeline).toContain('broke')
  })

  it('goes to one of two, and to the other when the first was killed and its lease ended', async () => {
    const clients = [await mcp.connect(), await mcp.connect()]
    await Promise.all(clients.map((client) => look(client)))
    const waits = clients.map((client) => wait(client).then((content) => ({ client, content })))
    await fire()
    const first = await Promise.race(waits)
    const other = waits[clients.findIndex((client) => client !== first.client)]!
    await first.client.close()
    await lapse()
    const { client, content } = await other
    expect(firingOf(content)).toMatchObject({ delivery_id: firingOf(first.content)!.delivery_id, tries: 2 })
    const late = await call(client, 'ack_firing', holding(first.content))
    expect(late).toMatchObject({ isError: true, text: expect.stringContaining('lease: it ended') })
    await called(client, 'ack_firing', holding(content))
    expect(await statusOf(holding(content))).toBe('delivered')
  })

  it.each<[string, (client: Client, cancel: () => void) => unknown]>([
    ['cancels', (_client, cancel) => cancel()],
    ['is gone', (client) => client.close()],
  ])('is not taken by a client that %s', async (_case, go) => {
    const [client, other] = [await mcp.connect(), await mcp.connect()]
    await look(client)
    const { begun, ended } = fetches()
    const stop = new AbortController()
    const waiting = client.callTool({ name: 'wait_for_firing', arguments: WAIT }, undefined, stop)
    const failed = expect(waiting).rejects.toThrow()
    await begun(1)
    await go(client, () => stop.abort())
    await failed
    expect(await ended(0)).toEqual({ delivery: null })
    await fire()
    expect(await look(other)).toMatchObject({ tries: 1 })
  })

  it.each<[string, (client: ModernClient, cancel: () => void) => unknown]>([
    ['cancels', (_client, cancel) => cancel()],
    ['is gone', (client) => client.close()],
  ])('is not taken by a client of 2026-07-28 that %s', async (_case, go) => {
    const [client, other] = [await connectModern(), await mcp.connect()]
    await look(other)
    const { begun, ended } = fetches()
    const stop = new AbortController()
    const waiting = client.callTool({ name: 'wait_for_firing', arguments: WAIT }, { signal: stop.signal })
    const failed = expect(waiting).rejects.toThrow()
    await begun(1)
    await go(client, () => stop.abort())
    await failed
    expect(await ended(0)).toEqual({ delivery: null })
    await fire()
    expect(await look(other)).toMatchObject({ tries: 1 })
  })

  it('is waited for no longer by a client of 2026-07-28 when svc mcp stops', async () => {
    const client = await connectModern()
    await look(await mcp.connect())
    const { begun } = fetches()
    const waiting = client.callTool({ name: 'wait_for_firing', arguments: WAIT })
    await begun(1)
    await mcp.beginStop()
    expect((await waiting).structuredContent).toMatchObject({ firing: null })
  })

  it('is given back, uncounted, when it comes to a client that has just gone', async () => {
    const client = await mcp.connect()
    await look(client)
    await fire()
    const { daemon, session } = { ...mcp.shared, session: mcp.sessions.all()[0]!.session }
    const asked = daemon.as(null)
    const ask: typeof asked.ask = async (call, ...given) => {
      const answer = await asked.ask(call, ...given)
      if (String(call) === calls.fetchFiring) void session.settled()
      return answer
    }
    daemon.as = () => Object.assign(Object.create(asked), { ask })
    expect(await look(client)).toBeNull()
    daemon.as = () => asked
    expect(await look(await mcp.connect())).toMatchObject({ tries: 1 })
  })

  it('is waited for no longer when svc mcp stops: the call is answered', async () => {
    const client = await mcp.connect()
    await look(client)
    const { begun } = fetches()
    const waiting = wait(client)
    await begun(1)
    await mcp.beginStop()
    expect(await waiting).toMatchObject({ firing: null })
  })

  it('stays with its holder when svc mcp and the daemon restart, and what fires meanwhile waits', async () => {
    await mcp.stop()
    await svc.stop()
    const folder = mkdtempSync(join(tmpdir(), 'svc-mcp-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const dataFile = join(folder, 'svc.db')
    await begin(await startInstance({ dataFile }))
    const before = await mcp.connect()
    await look(before)
    await fire()
    const held = await wait(before)
    await fire('cart')
    await mcp.stop()
    await svc.stop()
    svc = await startInstance({ dataFile, clock: svc.clock })
    mcp = await startMcp(svc.url)
    const after = await mcp.connect()
    expect(await look(after)).toMatchObject({ key: 'cart', tries: 1 })
    expect(await look(after)).toBeNull()
    const { content } = await called(after, 'extend_lease', { ...holding(held), lease_seconds: 600 })
    expect(content.lease_until).toBe(new Date(svc.clock.at + 600_000).toISOString())
    await lapse()
    await called(after, 'ack_firing', holding(held))
    expect(await statusOf(holding(held))).toBe('delivered')
  })

  it('needs a trigger or a project that can be told, not both', async () => {
    const client = await mcp.connect()
    const both = await call(client, 'wait_for_firing', { trigger: 't', project: 'Shop' })
    expect(both.text).toContain('give trigger or project, not both')
    const unknown = await call(client, 'wait_for_firing', { trigger: 'u' })
    expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining('u') })
    const mine = await wait(client, { timeout_seconds: 0, name: 'night' })
    const day = await wait(client, { timeout_seconds: 0, name: 'day' })
    expect(mine.subscription_id).not.toBe(day.subscription_id)
    await called(client, 'leave_project', { subscription_id: day.subscription_id })
    expect((await svc.get<{ subscriptions: unknown[] }>('/api/subscriptions')).subscriptions).toHaveLength(1)
  })
})

describe('a firing that is concluded', () => {
  async function held(client: Client) {
    await look(client)
    await fire()
    return holding(await wait(client))
  }
  const FOUND = {
    entity: 'pay',
    label: 'service',
    finding: 'The certificate ended.',
    headline: 'Payments fail',
    next_step: 'Renew it',
    verdict: 'investigate',
    project: 'Shop',
  }

  it('with a finding has it on the timeline and among the results, and is delivered', async () => {
    const client = await mcp.connect()
    const mine = await held(client)
    const { content, text } = await called(client, 'conclude', { ...mine, ...FOUND })
    expect(text).toContain('is done; recorded as ')
    const found = await called(client, 'get_finding', { id: content.finding, project: 'Shop' })
    expect(found.content).toMatchObject({ headline: 'Payments fail', verdict: 'investigate' })
    const timeline = await called(client, 'read', { selector: { service: 'pay' } })
    expect(timeline.text).toContain('[findings] finding: investigate: Payments fail · service=pay')
    expect(await statusOf(mine)).toBe('delivered')
  })

  it('with nothing to report records nothing, and is delivered', async () => {
    const client = await mcp.connect()
    const mine = await held(client)
    const { content } = await called(client, 'conclude', { ...mine, verdict: 'no_op' })
    expect(content).toMatchObject({ acknowledged: true, finding: null })
    expect((await called(client, 'list_findings', { project: 'Shop' })).text).toBe('no findings')
    expect(await statusOf(mine)).toBe('delivered')
  })

  it('is recorded once, however often it is said', async () => {
    const client = await mcp.connect()
    const mine = await held(client)
    await called(client, 'conclude', { ...mine, ...FOUND })
    const again = await call(client, 'conclude', { ...mine, ...FOUND })
    expect(again).toMatchObject({ isError: true, text: expect.stringContaining('acknowledged already') })
    const { findings } = (await called(client, 'list_findings', { project: 'Shop' })).content
    expect(findings).toHaveLength(1)
  })

  it('too late is refused before anything is recorded', async () => {
    const client = await mcp.connect()
    const mine = await held(client)
    await lapse()
    const late = await call(client, 'conclude', { ...mine, ...FOUND })
    expect(late).toMatchObject({ isError: true, text: expect.stringContaining('lease: it ended') })
    expect((await called(client, 'list_findings', { project: 'Shop' })).text).toBe('no findings')
  })

  it.each<[string, Fields, string]>([
    ['nothing is said', {}, 'finding is required, unless verdict is no_op'],
    ['no_op has a finding', { ...FOUND, verdict: 'no_op' }, 'verdict no_op has no finding'],
    ['the entity is missing', { finding: 'It broke.' }, 'entity is required with a finding'],
    ['the project is not known', { ...FOUND, project: 'Nope' }, 'project Nope is not known'],
  ])('is refused where %s, and stays held', async (_case, said, sentence) => {
    const client = await mcp.connect()
    const mine = await held(client)
    const refused = await call(client, 'conclude', { ...mine, ...said })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining(sentence) })
    expect(await statusOf(mine)).toBe('running')
    await called(client, 'ack_firing', mine)
  })
})

describe('by scope', () => {
  beforeEach(async () => {
    await mcp.stop()
    await svc.stop()
    await begin(await startInstance({ secured: true }))
  })
  const keyOf = async (path: string, scopes: string[]) =>
    (await svc.post<{ secret: string }>(path, { name: scopes.join('-'), scopes })).secret

  it('a project key waits for its whole project and concludes in it', async () => {
    const client = await mcp.connect(await keyOf('/api/projects/Shop/keys', ['read', 'findings']))
    expect((await call(client, 'wait_for_firing', { trigger: 't' })).text).toContain('leave trigger out')
    const args = { lease_seconds: LEASE, timeout_seconds: 0 }
    await called(client, 'wait_for_firing', args)
    await fire()
    const mine = holding((await called(client, 'wait_for_firing', args)).content)
    const said = { entity: 'pay', finding: 'It broke.', headline: 'Broken' }
    const { content } = await called(client, 'conclude', { ...mine, ...said })
    expect((await called(client, 'get_finding', { id: content.finding })).content).toMatchObject({
      headline: 'Broken',
    })
    expect(await statusOf(mine)).toBe('delivered')
  })

  it('a read key waits and acknowledges, and is told who may record a finding', async () => {
    const client = await mcp.connect(await keyOf('/api/keys', ['read']))
    await look(client)
    await fire()
    const mine = holding(await wait(client))
    const refused = await call(client, 'conclude', { ...mine, entity: 'pay', finding: 'It broke.' })
    expect(refused.text).toContain('may not record findings: give verdict no_op')
    const other = await mcp.connect(await keyOf('/api/keys', ['read', 'ingest']))
    expect((await call(other, 'ack_firing', mine)).text).toContain(
      'another credential made this subscription',
    )
    await called(client, 'conclude', { ...mine, verdict: 'no_op' })
    expect(await statusOf(mine)).toBe('delivered')
  })
})
