/** Issue 19, 6: a webhook source that was given only a name is discovered from what it received. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Door, discovered, type Found, misses, openFresh } from './discovered.ts'
import { HELD_OUT } from './held-out.ts'
import { SENDERS } from './senders.ts'
import { STATEFUL } from './states.ts'

let door: Door
beforeAll(async () => {
  door = await openFresh()
})
afterAll(() => door.close())

/** What reads otherwise than expected, by sender. */
async function measured(senders: typeof SENDERS, prefix: string): Promise<Record<string, string[]>> {
  const missed: Record<string, string[]> = {}
  for (const [i, sender] of senders.entries()) {
    const { events } = await discovered(door, `${prefix}-${i}`, sender)
    const wrong = misses(events, sender.rows)
    if (wrong.length) missed[sender.sender] = wrong
  }
  return missed
}

describe('of senders to a fresh source, discovered and applied without an edit', () => {
  it('at least 14 of 17 are right in entity, type, time, text and splitting', async () => {
    expect(SENDERS).toHaveLength(17)
    const missed = await measured(SENDERS, 'sender')
    expect(Object.keys(missed).length).toBeLessThanOrEqual(3)
    // The table of the misses: a project's name where its path was expected.
    expect(missed).toEqual({ 'GitLab pipeline': ['entity Gitlab Test'] })
  })

  it('at least 7 of 9 are that the rules were not written from', async () => {
    const missed = await measured(HELD_OUT, 'held-out')
    expect(Object.keys(missed).length).toBeLessThanOrEqual(2)
    expect(missed).toEqual({})
  })
})

describe('of senders that tell of one thing in several states', () => {
  it.each(STATEFUL.map((one, n) => [one.sender, n] as const))(
    '%s: each row has its state, its own time, and what it is about (%i)',
    async (_, n) => {
      const { events } = await discovered(door, `stateful-${n}`, STATEFUL[n]!)
      expect(misses(events, STATEFUL[n]!.rows)).toEqual([])
    },
  )
})

const ask = async (body: Record<string, unknown>) =>
  door.call('POST', '/api/sources/discover', { connector: 'webhook', ...body })
type Answer = Found & { proposed_config: Record<string, unknown>; sampled: number; read_already: number }
const found = async (body: Record<string, unknown>) => (await ask(body)).json() as unknown as Answer

describe('what a fresh source receives', () => {
  it.each([
    ['an object', '{"message":"a b"}', 1],
    ['a list', '[{"a":1},{"a":2}]', 2],
    ['lines', '{"a":1}\n{"a":2}\n{"a":3}', 3],
    ['a text', '"hello"', 1],
    ['a number', '7', 1],
    ['an empty object', '{}', 1],
  ])('is taken and can be discovered: %s', async (what, body, events) => {
    const name = what.replaceAll(' ', '-')
    const { url } = await door.source(name)
    expect((await door.call('POST', url, body)).json()).toMatchObject({ ingested: events })
    expect(await found({ name })).toMatchObject({ sampled: events })
  })

  it('is shown as rows before and after, times of arrival as none', async () => {
    const { url } = await door.source('rows')
    await door.call('POST', url, { service: 'cart', event_type: 'slow', msg: 'it took 9 s', ts: 1790000000 })
    const { rows, roles, summary } = await found({ name: 'rows' })
    expect(rows).toMatchObject([
      {
        before: [{ event_type: 'webhook_event', ts: null, entity: null }],
        after: [
          {
            event_type: 'slow',
            text: 'it took 9 s',
            ts: '2026-09-21T14:13:20.000Z',
            entity: { label: 'service', value: 'cart' },
          },
        ],
      },
    ])
    expect(summary).toBe('Read one payload: entity service, type event_type, time ts, text msg.')
    expect(roles.find(({ role }) => role === 'time')).toMatchObject({
      format: 'seconds since 1970',
      confidence: 'high',
      coverage: 1,
    })
    // Stored events stay as they are.
    expect((await door.call('GET', '/api/sources/rows/events')).json()).toHaveLength(1)
  })

  it('of deliveries that the connector reads by itself nothing is proposed over', async () => {
    const { url } = await door.source('hub')
    const github = SENDERS.find(({ sender }) => sender === 'GitHub pull request, as JSON')!
    await door.call('POST', url, github.body, github.headers)
    const answer = await found({ name: 'hub' })
    expect(answer).toMatchObject({ sampled: 1, read_already: 1, proposed_config: {}, roles: [] })
    expect(answer.rows[0]!.after).toEqual(answer.rows[0]!.before)
  })

  it('is read whole again where it was split: the same is proposed twice', async () => {
    const grafana = SENDERS[0]!
    const { found: first } = await discovered(door, 'twice', grafana)
    const { proposed_config: second } = await found({ name: 'twice' })
    expect(first.config.items_field).toBe('alerts')
    expect(second).toEqual(first.config)
  })
})

describe('a proposal', () => {
  const SAMPLE = [
    { service: 'cart', level: 'error', msg: 'it broke', at: '2026-11-20T12:00:00Z', token: 'hunter2' },
  ]

  it('is made from a sample without a source, and keeps what is set', async () => {
    const { proposed_config: config } = await found({
      sample: SAMPLE,
      config: { event_type_field: 'service', signature_scheme: 'github', signature_secret: 's3cret' },
    })
    expect(config).toEqual({
      event_type_field: 'service',
      event_time_field: 'at',
      text_template: '{msg}',
      labels: [
        { name: 'service', field: 'service', primary: true },
        { name: 'level', field: 'level' },
      ],
    })
  })

  it('with fixed, only tells what the given config makes of it', async () => {
    const { proposed_config: config, rows } = await found({
      sample: SAMPLE,
      fixed: true,
      config: { text_template: '{level} in {service}' },
    })
    expect(config).toEqual({ text_template: '{level} in {service}' })
    expect(rows[0]!.after).toMatchObject([
      { text: 'error in cart', event_type: 'webhook_event', entity: null },
    ])
  })

  it('never shows nor uses a field that is named like a secret', async () => {
    expect(JSON.stringify({ ...(await found({ sample: SAMPLE })), rows: [] })).not.toContain('hunter2')
  })

  it('is refused where there is nothing to read, or a fault in the config', async () => {
    await door.source('quiet')
    const refused = async (body: Record<string, unknown>) => {
      const answer = await ask(body)
      return [answer.status, answer.json().detail]
    }
    expect(await refused({ name: 'quiet' })).toEqual([
      400,
      'nothing was received yet: send an event, or give one as sample',
    ])
    expect(await refused({ name: 'nope' })).toEqual([404, 'no source is named nope'])
    expect((await refused({ sample: [] }))[0]).toBe(400)
    expect((await refused({ sample: SAMPLE, config: { event_time: 'x' } }))[1]).toContain('event_time')
  })
})
