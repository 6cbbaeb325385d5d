import { describe, expect, it, onTestFinished } from 'vitest'
import { systemTimers } from '../../../../../engine/clock.ts'
import { fetchOver } from '../../../../../engine/net/fetch.ts'
import { httpPoll } from '../../../../../engine/sources/connectors/http-poll.ts'
import { say } from '../../../net/egress/receiver.ts'
import { client, receiver } from '../../../net/egress/setup.ts'

const NOW = Date.UTC(2026, 5, 2)

async function discover(value: unknown, config: Record<string, unknown> = {}) {
  const upstream = await receiver(say(200, {}, JSON.stringify(value)))
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const fetch = fetchOver(client(), { audience: 'operator', timeoutMs: 60_000, maxResponseBytes: 1_000_000 })
  const reach = { fetch, clock: { now: () => NOW }, timers: systemTimers, signal: stop.signal }
  const found = await httpPoll.discover!({ url: upstream.url, ...config }, reach)
  const { url: _where, ...proposed } = found.proposed_config as Record<string, unknown>
  return { found, proposed }
}

const issue = (n: number) => ({
  number: n,
  node_id: `N${n}`,
  title: `Payment fails for customer ${n}`,
  state: n % 2 ? 'open' : 'closed',
  body: 'x'.repeat(300),
  user: { login: 'maria', id: 7 },
  labels: [{ name: 'bug' }],
  score: n / 2,
  updated_at: `2026-06-01T00:00:0${n}Z`,
})

describe('discovery of an API', () => {
  it('finds the list, what tells its entries apart, when they happened, and what is worth a label', async () => {
    const { found, proposed } = await discover({
      meta: { total: 3 },
      result: { issues: [1, 2, 3].map(issue) },
    })
    expect(proposed).toEqual({
      payload_key: 'result.issues',
      id_field: 'number',
      event_time_field: 'updated_at',
      text_template: '{node_id} title={title} state={state}',
      labels: [
        { name: 'number', field: 'number', type: 'number' },
        { name: 'node_id', field: 'node_id' },
        { name: 'title', field: 'title' },
        { name: 'state', field: 'state' },
        { name: 'user_login', field: 'user.login' },
        { name: 'user_id', field: 'user.id', type: 'number' },
        { name: 'score', field: 'score', type: 'number' },
      ],
    })
    expect(found).toMatchObject({
      summary: '3 entries at result.issues. Told apart by number.',
      per_poll: 3,
      sample_fields: { 'user.login': 'maria', state: 'open' },
    })
    expect(found.fields).toContainEqual({ name: 'body', example: `${'x'.repeat(200)}…` })
    expect(found.sample_reply).toMatchObject({ result: { issues: [{ number: 1 }] } })
  })

  it('finds how it pages, which a person may set otherwise', async () => {
    const paged = { data: [1, 2].map(issue), links: { next: '/items?page=2' } }
    expect((await discover(paged)).proposed).toMatchObject({ paging: 'next_link', next_field: 'links.next' })
    const cursors = { data: [1, 2].map(issue), meta: { next_cursor: 'abc' } }
    expect((await discover(cursors)).proposed).toMatchObject({
      paging: 'cursor',
      next_field: 'meta.next_cursor',
    })
    const { proposed } = await discover(paged, { paging: 'none' })
    expect([proposed.paging, proposed.next_field]).toEqual(['none', undefined])
  })

  it('of a single reading uses its time as its id', async () => {
    const { found, proposed } = await discover({ location: 'here', celsius: 21.5, observed: 1_780_000_000 })
    expect(proposed).toMatchObject({
      id_field: 'observed',
      event_time_field: 'observed',
      text_template: '{location} celsius={celsius}',
      labels: [
        { name: 'location', field: 'location' },
        { name: 'celsius', field: 'celsius', type: 'number' },
      ],
    })
    expect(proposed).not.toHaveProperty('payload_key')
    expect(found.summary).toBe('One entry in the answer. Told apart by observed.')
  })

  it('says where nothing tells entries apart, and takes ids that repeat for none', async () => {
    const { found, proposed } = await discover([
      { id: 1, a: 'x' },
      { id: 1, a: 'y' },
    ])
    expect(proposed).not.toHaveProperty('id_field')
    expect(found.summary).toBe(
      '2 entries in the answer. No field tells them apart, so each poll stores them all.',
    )
  })

  it('keeps what a person has set, but for secrets', async () => {
    const labels = [{ name: 'mine', field: 'a', primary: true }]
    const given = {
      payload_key: 'rows',
      text_template: '{a}!',
      headers: { 'X-A': 'b' },
      credential: 'secret',
      labels,
    }
    const { proposed } = await discover({ items: [{ b: 1 }], rows: [{ a: 1 }] }, given)
    expect(proposed).toEqual({ payload_key: 'rows', text_template: '{a}!', headers: { 'X-A': 'b' }, labels })
  })

  it('is not misled by names: prototypes, dots, braces and depth', async () => {
    const deep = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }
    const { proposed } = await discover(
      JSON.parse('[{"__proto__":{"x":"y"},"a.b":"c","{d}":"e","constructor":"f"}]'),
    )
    expect(
      (proposed.labels as { name: string; field: string }[]).map(({ name, field }) => `${name}=${field}`),
    ).toEqual(['__proto___x=__proto__.x', 'a_b=a.b', '_d_={d}', 'constructor=constructor'])
    expect(String(proposed.text_template)).not.toContain('d}')
    expect((await discover(deep)).proposed.labels).toEqual([])
  })

  it.each([
    [[], {}, 'the API answers with an empty list; try again when it has entries'],
    [{ a: 1 }, { payload_key: 'b' }, 'the answer has nothing at payload key b; it is an object with a'],
    [{ a: 1 }, { method: 'PUT' }, 'method must be one of GET, POST'],
    [{ a: 1 }, { url: 5 }, 'url must be text'],
    [{ a: 1 }, { url: 'https://me:pw@a.example/' }, 'config.url must not contain a user name'],
  ])('of %j with %j is refused', async (value, config, message) => {
    await expect(discover(value, config)).rejects.toThrow(message)
  })
})
