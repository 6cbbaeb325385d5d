/** A run of the past as a scenario: nobody's name leaves, and the truth is the events that a person names. */
import { describe, expect, it } from 'vitest'
import { counted, loadedWith, truthOf, ways } from '../../../../engine/agents/evals/incident.ts'
import { type FrozenRow, freezeRun } from '../../../../engine/agents/evals/scenario-of-run.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const row = (n: number, secondsAgo: number, text: string, labels: FrozenRow['labels'] = {}): FrozenRow => ({
  ...{ id: `evt_${n}`, source: 'app', event_type: 'info', text, labels },
  event_time: new Date(NOW - secondsAgo * 1000).toISOString(),
  ingested_at: new Date(NOW - secondsAgo * 1000).toISOString(),
  entity: { label: 'service', value: 'shop' },
})
const asEvent = ({ source, event_type: type, text, event_time }: FrozenRow) => ({
  ...{ source, type, text, t: (Date.parse(event_time) - NOW) / 1000, labels: { service: 'shop' } },
})
const given = (rows: FrozenRow[], more: object = {}) =>
  freezeRun({
    ...{
      id: 'run_1',
      entity: 'shop',
      firedAt: NOW,
      rows,
      causes: [['evt_1']],
      effects: [],
      cited: [],
      keep: [],
    },
    ...more,
  })

describe('names', () => {
  const rows = [
    row(1, 600, 'deployed by ada@corp.example for Acme Ltd', { customer: 'Acme Ltd', host: 'db-7' }),
    row(2, 300, 'Acme Ltd: call of 10.1.2.3 from db-7 failed, ask ada@corp.example', {
      customer: 'Acme Ltd',
    }),
    row(3, 200, 'fe80:0:0:1:2:3:4:5 refused', { region: 'eu-1' }),
  ]

  it('of customers, machines, mail and addresses are replaced, each by the same everywhere', () => {
    const { events, truth, replaced } = given(rows)
    const text = JSON.stringify({ events, truth })
    expect(text).not.toMatch(/Acme|corp\.example|db-7|10\.1\.2\.3|fe80/)
    expect(events[1]!.text).toBe(
      'customer-1: call of 192.0.2.1 from host-1 failed, ask user-1@example.invalid',
    )
    expect(events[0]).toMatchObject({
      text: 'deployed by user-1@example.invalid for customer-1',
      labels: { customer: 'customer-1', host: 'host-1', service: 'shop' },
    })
    expect(events[2]!.labels.region).toBe('eu-1')
    expect(replaced).toEqual({ customer: 1, host: 1, email: 1, ip: 2 })
  })

  it('stay where a person says so', () => {
    expect(given(rows, { keep: ['host'] }).events[1]!.text).toContain('db-7')
  })

  it.each([
    [
      'settings',
      'order failed customer=Initech tenant_id=48123',
      'order failed customer=customer-1 tenant_id=tenant-1',
    ],
    ['JSON', '{"customer": "Initech GmbH","total":500}', '{"customer": "customer-1","total":500}'],
    ['JSON in JSON', '"{\\"user\\":\\"ada\\"}" refused', '"{\\"user\\":\\"user-1\\"}" refused'],
    [
      'sentences with quotes',
      'account "Initech GmbH" is over its limit',
      'account "account-1" is over its limit',
    ],
    ['addresses', 'GET /customers/initech-2/orders 500', 'GET /customers/customer-1/orders 500'],
    ['lists of settings', 'host: web-7, retries: 3', 'host: host-1, retries: 3'],
  ])('that no label has are known by what texts call them: %s', (_, text, told) => {
    expect(given([row(1, 5, text)]).events[0]!.text).toBe(told)
  })

  it('that a text says once are replaced wherever they stand, where they can mean nothing else', () => {
    const texts = ['paged for Initech', 'customer=Initech user=ada', 'ada map of Initech: user ada unknown']
    const { events } = given(texts.map((text, i) => row(i + 1, 10 - i, text)))
    expect(events.map(({ text }) => text)).toEqual([
      'paged for customer-1',
      'customer=customer-1 user=user-1',
      // A plain word may be a word.
      'ada map of customer-1: user ada unknown',
    ])
  })

  it.each([
    'client: connection reset by peer',
    'user not found, host unreachable',
    'user=null account=unknown login=root',
    'GET /users/me 200',
    'org=shop calls shop',
  ])('are none of the words that every system has: %s', (text) => {
    expect(given([row(1, 5, text)]).events[0]!.text).toBe(text)
  })

  it('that only sentences have are replaced where a person names them', () => {
    const { events, truth } = given([row(1, 5, 'Initech GmbH cannot pay, says Initech')], {
      replace: ['Initech GmbH', 'Initech'],
    })
    expect(events[0]!.text).toBe('name-1 cannot pay, says name-2')
    expect(JSON.stringify(truth)).not.toContain('Initech')
  })

  it('of an entity that is a customer are replaced as well', () => {
    const of = { ...row(1, 5, 'Initech ordered'), entity: { label: 'customer', value: 'Initech' } }
    const { truth, events } = given([of], { entity: 'Initech' })
    expect(truth.entity).toBe('customer-1')
    expect(events[0]).toMatchObject({ text: 'customer-1 ordered', labels: { service: 'customer-1' } })
  })
})

it('the truth is found again in what was written', () => {
  const rows = [
    row(1, 600, 'deployed v2 (build [7])\nby ci'),
    row(2, 300, 'it failed'),
    row(3, 100, 'all well'),
  ]
  const frozen = given(rows, { causes: [['evt_1'], ['evt_3']], effects: ['evt_2'] })
  const loaded = loadedWith({ truth: frozen.truth, events: frozen.events }, {}, 0)
  const { causes, facts } = truthOf(loaded, frozen.truth)
  expect(causes.map(({ id, events }) => [id, [...events]])).toEqual([
    ['cause 1', ['evt_1']],
    ['cause 2', ['evt_3']],
  ])
  expect(facts.map(({ role, events }) => [role, events.size])).toEqual([
    ['root', 1],
    ['root', 1],
    ['effect', 1],
  ])
})

it('without a cause it expects no finding', () => {
  expect(given([row(1, 5, 'all well')], { causes: [] }).truth).toMatchObject({ outcome: 'no_op', facts: [] })
})

it('keeps the last three hours whole, of older lines some of each wording, and what was cited', () => {
  const old = Array.from({ length: 1_000 }, (_, i) => row(i + 10, 20_000 + i, `served page ${i}`))
  const young = Array.from({ length: 500 }, (_, i) => row(i + 2_000, 5_000 - i, `served page ${i}`))
  const { events, thinned } = given([...old, row(1, 700, 'deployed'), ...young], { cited: ['evt_11'] })
  expect(events.filter(({ t }) => t >= -10_800)).toHaveLength(501)
  expect(thinned).toBe(1_501 - events.length)
  expect(events.length - 501).toBeLessThanOrEqual(202)
  expect(events.some(({ text }) => text === 'served page 1')).toBe(true)
})

describe('issue 17, part 1: a stream that was thinned keeps its counts', () => {
  const stream = Array.from({ length: 6_000 }, (_, i) => row(i + 10, 100_000 - i * 10, `served page ${i}`))
  const rows = [...stream, row(1, 700, 'deployed')]
  const { events, truth, thinned } = given(rows)

  it('each event that stayed says how many it stands for, and until when', () => {
    expect(events.length).toBeLessThanOrEqual(202)
    expect(thinned).toBe(rows.length - events.length)
    expect(events.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(6_001)
    expect(events[0]).toMatchObject({ t: -100_000, count: 30, until: -99_710 })
  })

  it('6,000 of them are loaded as 6,000, at the times of the stream, and told as 6,000', () => {
    const loaded = loadedWith({ truth, events }, {}, 0)
    const whole = loadedWith({ truth, events: stream.map((one) => asEvent(one)) }, {}, 0)
    expect(loaded.events.filter(({ text }) => text.startsWith('served'))).toHaveLength(6_000)
    const within = (of: typeof loaded, from: number, to: number) =>
      of.events.filter(({ t, text }) => text.startsWith('served') && t >= from && t < to).length
    for (const [from, to] of [
      [-100_000, -70_000],
      [-70_000, -50_000],
    ] as const)
      expect(within(loaded, from, to)).toBe(within(whole, from, to))
    const told = ways.brief(loaded, 6_000)
    expect(told).toMatch(/\n6,002 events, /)
    expect(told).toContain('app info 6,000')
  })

  it('and counts that cannot be are refused with their field', () => {
    const one = { source: 'app', type: 'info', t: -5, text: 'x', labels: {} }
    expect(() => counted([{ ...one, count: 0.5 }])).toThrow('events[0].count must be a whole number from 1')
    expect(() => counted([{ ...one, count: 2, until: 3 }])).toThrow(
      'events[0].until must be between its t and 0',
    )
    expect(() => counted([{ ...one, count: 1e12 }])).toThrow(
      'count: the events stand for more than 1,000,000',
    )
  })
})

it('refuses a cause that is none of its events', () => {
  expect(() => given([row(1, 5, 'x')], { causes: [['evt_9']] })).toThrow(
    'cause: evt_9 is none of the events that the run could read',
  )
})

it('an event that came late keeps when it came', () => {
  const late = { ...row(1, 600, 'late'), ingested_at: new Date(NOW - 30_000).toISOString() }
  expect(given([late]).events[0]).toMatchObject({ t: -600, arrives: -30 })
})
