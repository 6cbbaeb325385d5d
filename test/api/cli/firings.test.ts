import { afterEach, describe, expect, it } from 'vitest'
import type { Delivery, Firing, FiringDetail, Subscription, WhyRecord } from '../../../schemas/types.ts'
import { answer, type Stub, startStub, svc } from './cli-harness.ts'

let stub: Stub
afterEach(() => stub.close())

/** A daemon that answers by "METHOD path"; anything else is 404. */
const daemon = async (answers: Record<string, [number, unknown]>) => {
  stub = await startStub((seen, response) => {
    const [status, body] = answers[`${seen.method} ${seen.url}`] ?? [404, { detail: 'unknown path' }]
    answer(response, status, body)
  })
  return ['--svcd', stub.url, '--token', 't']
}

const ID = '019aa0b1c2d37e4f8a9b0c1d2e3f4a5b'
const firing: Firing = {
  dispatch_id: ID,
  trigger: 'errs',
  kind: 'errs',
  project: null,
  projects: [],
  state: 'fired',
  key: 'pay',
  entity: { label: 'service', value: 'pay' },
  fired_at: '2026-11-20T12:00:00.000Z',
  opened_at: '2026-11-20T12:00:00.000Z',
  due_at: null,
  reason: '6 events in 5m, above 5',
  value: 6,
  predicate: '> 5',
  window: '5m',
  events: 6,
  event_ids: ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5', 'evt_6'],
  first_event: 'evt_6',
  key_count: 1,
  keys: [{ key: 'pay', events: 6, first_event: 'evt_6' }],
  held_back: 0,
  late_by: null,
  resolves: null,
  practice: false,
  parent_run_id: null,
  incident: null,
  severity: null,
  suppressed_by: null,
  subscribers: 2,
  delivered: 1,
  pending: 0,
  failed: 1,
}
const delivery: Delivery = {
  delivery_id: 'dlv_1',
  of: 'firing',
  made_at: firing.fired_at!,
  dispatch_id: ID,
  trigger: 'errs',
  key: 'pay',
  fired_at: firing.fired_at!,
  recipient: {
    kind: 'webhook',
    name: 'calm reef',
    address: 'https://ops.example/ho…',
    subscription_id: 'sub_1',
  },
  status: 'running',
  accepts: [],
  tries: 2,
  max_tries: 9,
  due_at: '2026-11-20T12:00:35.000Z',
  reason: 'HTTP 503',
  delivered_at: null,
  run_id: null,
  attempts: [
    { at: '2026-11-20T12:00:05.000Z', ms: 31, status: 503, error: 'HTTP 503' },
    { at: '2026-11-20T12:00:00.000Z', ms: 10_000, status: null, error: 'no answer in 10 s' },
  ],
}
const queued: Delivery = {
  ...delivery,
  recipient: { kind: 'mcp', name: 'q', address: '', subscription_id: 'sub_2' },
  ...{ tries: 0, due_at: null, reason: null, attempts: [] },
}
const detail: FiringDetail = {
  ...firing,
  payload: '=== firing · errs ===\nwhy: \u001b[31m6 events\n',
  sentence: 'When the number of events is above 5 within 5 min on gw',
  sources: ['gw'],
  aggregate: 'count',
  context_window: '15m',
  deliveries: [delivery],
}

describe('svc firings', () => {
  it('lists them with who was told and why, also without a subcommand', async () => {
    const burst = { ...firing, key_count: 50, subscribers: 0, delivered: 0, failed: 0 }
    const at = await daemon({
      'GET /api/firings?limit=30': [200, { firings: [firing, burst], next_before: null }],
    })
    const ran = await svc(['firings', ...at])
    expect(ran).toMatchObject({ code: 0, err: '' })
    const [heading, first, second] = ran.out.split('\n')
    expect(heading).toMatch(/^ID +WHEN +TRIGGER +STATE +KEY +EVENTS +TOLD +WHY$/)
    expect(first).toMatch(
      new RegExp(
        `^${ID}  2026-11-20T12:00:00.000Z  errs +fired  pay +6 +1/2, 1 failed  6 events in 5m, above 5$`,
      ),
    )
    expect(second).toContain('pay and 49 more  6       nobody')
  })

  it('narrows by trigger, state, key and project, by its name', async () => {
    const at = await daemon({
      'GET /api/firings?limit=5&trigger=errs&project=My+Shop&state=held&key=a%26b&before=x': [
        200,
        { firings: [], next_before: null },
      ],
    })
    const options = ['--trigger', 'errs', '--project', 'My Shop', '--state', 'held', '--key', 'a&b']
    const ran = await svc(['firings', 'list', ...options, '--limit', '5', '--before', 'x', ...at])
    expect(ran).toMatchObject({ code: 0, out: 'no firings\n' })
  })

  it('says how to go on, on standard error', async () => {
    const at = await daemon({
      'GET /api/firings?limit=1': [200, { firings: [firing], next_before: ID }],
    })
    expect((await svc(['firings', '--limit', '1', ...at])).err).toBe(
      `there are more; --before ${ID} goes on with them\n`,
    )
  })

  it.each([
    [['firings', '--state', 'open'], '--state'],
    [['firings', '--limit', '0'], '--limit must be a whole number'],
    [['deliveries', '--status', 'lost'], '--status'],
    [['deliveries', '--kind', 'pigeon'], '--kind'],
  ])('%j exits with 64', async (argv, message) => {
    const ran = await svc([...argv, ...(await daemon({}))])
    expect([ran.code, ran.out]).toEqual([64, ''])
    expect(ran.err).toContain(message)
    expect(stub.requests).toEqual([])
  })

  it('shows one: why, value, key, events, deliveries with their tries, payload', async () => {
    const at = await daemon({ [`GET /api/firings/${ID}`]: [200, detail] })
    const ran = await svc(['firings', 'show', ID, ...at])
    expect(ran.out).toBe(
      `errs  fired  ${ID}
why      6 events in 5m, above 5
watches  When the number of events is above 5 within 5 min on gw
when     2026-11-20T12:00:00.000Z
value    6 (> 5 within 5m)
key      service=pay
events   6: evt_1 evt_2 evt_3 evt_4 evt_5 evt_6

dlv_1  running  to calm reef (https://ops.example/ho…)
  next try 2026-11-20T12:00:35.000Z
  2026-11-20T12:00:05.000Z HTTP 503 in 31 ms: HTTP 503
  2026-11-20T12:00:00.000Z in 10000 ms: no answer in 10 s

=== firing · errs ===
why: \\u001b[31m6 events
`,
    )
    expect((await svc(['firings', 'show', ID, '--json', ...at])).out).toBe(`${JSON.stringify(detail)}\n`)
  })

  it('shows a burst that is held with its keys, and who is told of it', async () => {
    const held: FiringDetail = {
      ...detail,
      state: 'held',
      fired_at: null,
      due_at: '2026-11-20T13:00:00.000Z',
      entity: null,
      value: null,
      events: 1000,
      held_back: 3,
      key_count: 30,
      keys: [
        { key: 'pay', events: 900, first_event: 'evt_6' },
        { key: 'cart', events: 90, first_event: 'evt_7' },
      ],
      deliveries: [],
      payload: null,
    }
    const { out } = await svc([
      'firings',
      'show',
      ID,
      ...(await daemon({ [`GET /api/firings/${ID}`]: [200, held] })),
    ])
    expect(out).toContain('when     opened 2026-11-20T12:00:00.000Z, decided at 2026-11-20T13:00:00.000Z\n')
    expect(out).toContain(`evt_6 …; all by "svc firings events ${ID}"\n`)
    expect(out).toContain('held     3 crossings held back by a limit until then\n')
    expect(out).toMatch(/KEY +EVENTS +FIRST EVENT\npay +900 +evt_6\ncart +90 +evt_7\n… and 28 more keys\n/)
    expect(out).toMatch(/no subscribers\n$/)
  })

  it('prints every event id, page after page', async () => {
    const at = await daemon({
      [`GET /api/firings/${ID}/events`]: [200, { event_ids: ['evt_1', 'evt_2'], next_after: 'evt_2' }],
      [`GET /api/firings/${ID}/events?after=evt_2`]: [200, { event_ids: ['evt_9'], next_after: null }],
    })
    expect((await svc(['firings', 'events', ID, ...at])).out).toBe('evt_1\nevt_2\nevt_9\n')
    const json = await svc(['firings', 'events', ID, '--json', ...at])
    expect(
      json.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).event_ids.length),
    ).toEqual([2, 1])
  })

  it('exits with 1 for one that is not there', async () => {
    const at = await daemon({ 'GET /api/firings/x': [404, { detail: 'no firing has the id x' }] })
    expect(await svc(['firings', 'show', 'x', ...at])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no firing has the id x (HTTP 404'),
    })
  })
})

describe('svc deliveries', () => {
  it('lists them with recipient, status, tries and what comes next', async () => {
    const done = {
      ...delivery,
      status: 'delivered',
      due_at: null,
      reason: null,
      delivered_at: '2026-11-20T12:00:01.000Z',
    }
    const agent = {
      ...delivery,
      recipient: {
        kind: 'agent',
        name: 'first\u202elook',
        address: 'svc://agent/first',
        subscription_id: null,
      },
      status: 'failed',
      due_at: null,
      reason: 'off',
    }
    const at = await daemon({
      'GET /api/deliveries?limit=30&status=failed&trigger=errs&recipient=sub_1': [
        200,
        { deliveries: [delivery, done, agent, queued, { ...queued, tries: 1 }], next_before: 'dlv_1' },
      ],
    })
    const options = ['--status', 'failed', '--trigger', 'errs', '--recipient', 'sub_1']
    const { out, err } = await svc(['deliveries', ...options, ...at])
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^ID +MADE +TRIGGER +KEY +TO +STATUS +TRIES +HOW$/)
    expect(lines[1]).toMatch(/calm reef \(https.*running +2\/9 +HTTP 503; next try 2026-11-20T12:00:35.000Z$/)
    expect(lines[2]).toMatch(/delivered +2\/9 +at 2026-11-20T12:00:01.000Z$/)
    expect(lines[3]).toMatch(/agent first\\u202elook +failed +2\/9 +off$/)
    expect(lines[4]).toMatch(/q \(fetched\) +running +0\/9 +waits to be fetched$/)
    expect(lines[5]).toMatch(/q \(fetched\) +running +1\/9 +fetched 1 time, not ended yet$/)
    expect(err).toContain('--before dlv_1')
  })

  it('18.3: narrows to a kind and a run, and shows what was told of a finding that no firing woke', async () => {
    const finding = {
      ...{ ...delivery, of: 'finding', dispatch_id: null, trigger: null, fired_at: null, run_id: 'run_1' },
      recipient: {
        ...{ kind: 'slack', name: 'first-look', address: 'slack://channel/C0ALERTS', subscription_id: null },
      },
    }
    const at = await daemon({
      'GET /api/deliveries?limit=30&kind=slack&run=run_1': [
        200,
        { deliveries: [finding], next_before: null },
      ],
      'GET /api/deliveries/dlv_1': [200, finding],
    })
    const { out } = await svc(['deliveries', '--kind', 'slack', '--run', 'run_1', ...at])
    expect(out).toContain('Slack of agent first-look (slack://channel/C0ALERTS)')
    const shown = (await svc(['deliveries', 'show', 'dlv_1', ...at])).out
    expect(shown).toContain(`finding  about pay, ${delivery.made_at}`)
    expect(shown).toContain('run      run_1')
    expect(shown).not.toContain('firing ')
  })

  it('shows one with its tries, or what is posted', async () => {
    const at = await daemon({
      'GET /api/deliveries/dlv_1': [200, delivery],
      'GET /api/deliveries/dlv_1/message': [200, { delivery_id: 'dlv_1', payload: 'a\u001b' }],
    })
    expect((await svc(['deliveries', 'show', 'dlv_1', ...at])).out).toBe(
      `dlv_1  running
to       calm reef (https://ops.example/ho…)
firing   ${ID} of errs for pay, 2026-11-20T12:00:00.000Z
tries    2 of 9
  next try 2026-11-20T12:00:35.000Z
  2026-11-20T12:00:05.000Z HTTP 503 in 31 ms: HTTP 503
  2026-11-20T12:00:00.000Z in 10000 ms: no answer in 10 s
`,
    )
    expect(JSON.parse((await svc(['deliveries', 'show', 'dlv_1', '--message', ...at])).out)).toEqual({
      delivery_id: 'dlv_1',
      payload: 'a\u001b',
    })
  })

  it('sends one again, and passes on why it cannot', async () => {
    const at = await daemon({
      'POST /api/deliveries/dlv_1/redeliver': [200, delivery],
      'POST /api/deliveries/dlv_2/redeliver': [409, { detail: 'its subscription was removed' }],
    })
    expect(await svc(['deliveries', 'redeliver', 'dlv_1', ...at])).toMatchObject({
      code: 0,
      out: 'dlv_1 is running\n',
      err: '"svc deliveries show dlv_1" tells how it goes\n',
    })
    expect(await svc(['deliveries', 'redeliver', 'dlv_2', ...at])).toMatchObject({ code: 1, out: '' })
  })
})

describe('svc why', () => {
  const record: WhyRecord = {
    trigger: 'errs',
    reason: 'fired',
    text: 'fired: 6 events in 5m, above 5',
    key: 'pay',
    at: '2026-11-20T12:00:00.000Z',
    field: null,
    expected: null,
    actual: null,
    value: 6,
    predicate: '> 5',
    window: '5m',
    until: null,
    dispatch_id: ID,
    recomputed: false,
  }
  const filtered: WhyRecord = {
    ...record,
    trigger: 'slow',
    reason: 'filter',
    text: 'status is 500, expected is below 400',
    key: null,
    dispatch_id: null,
    recomputed: true,
  }

  it('has a line for each trigger that says what was recorded and what was worked out', async () => {
    const at = await daemon({
      'GET /api/events/evt_6/why': [200, { event_id: 'evt_6', records: [record, filtered] }],
    })
    const ran = await svc(['why', 'evt_6', ...at])
    expect(ran.out.split('\n').slice(1, 3)).toEqual([
      `errs     pay  recorded    fired: 6 events in 5m, above 5 (firing ${ID})`,
      'slow          worked out  status is 500, expected is below 400',
    ])
    expect(ran.err).toBe('worked out: by the trigger as it is now, over what was stored before\n')
  })

  it('asks about one trigger, and says when none watches the source', async () => {
    const at = await daemon({
      'GET /api/events/evt_6/why?trigger=errs': [200, { event_id: 'evt_6', records: [record] }],
      'GET /api/events/evt_7/why': [200, { event_id: 'evt_7', records: [] }],
    })
    expect(await svc(['why', 'evt_6', '--trigger', 'errs', ...at])).toMatchObject({ code: 0, err: '' })
    expect((await svc(['why', 'evt_7', ...at])).out).toBe('no trigger watches the source of evt_7\n')
  })
})

describe('svc subscribe, unsubscribe and subscriptions', () => {
  const made = { subscription_id: 'sub_1', secret: 'whsec_c2VjcmV0' }

  it('prints the secret alone on standard output, and how to verify with it beside it', async () => {
    const at = await daemon({ 'POST /subscribe': [201, made] })
    const ran = await svc(['subscribe', 'errs', 'https://ops.example/hook', '--name', 'ops', ...at])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({
      trigger: 'errs',
      url: 'https://ops.example/hook',
      name: 'ops',
    })
    expect(ran).toMatchObject({ code: 0, out: 'whsec_c2VjcmV0\n' })
    expect(ran.err).toContain('subscribed to errs as sub_1; the secret is shown once')
    expect(ran.err).toContain('<webhook-id>.<webhook-timestamp>.<body>')
  })

  it.each([
    ['errs', ['errs'], 'POST /subscribe', { trigger: 'errs', fetch: true }],
    ['project Shop', ['--project', 'Shop'], 'POST /api/projects/Shop/subscribe', { fetch: true }],
  ])('keeps the firings of %s to be fetched, and prints the id alone', async (of, args, route, body) => {
    const at = await daemon({ [route]: [201, { subscription_id: 'sub_3' }] })
    const ran = await svc(['subscribe', ...args, '--fetch', ...at])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual(body)
    expect(ran).toMatchObject({ code: 0, out: 'sub_3\n' })
    expect(ran.err).toContain(`kept from now on: ${of}. Fetch them with POST /api/subscriptions/sub_3/fetch`)
  })

  it('subscribes to a project, and says when the address was subscribed already', async () => {
    const at = await daemon({
      'POST /api/projects/My%20Shop/subscribe': [200, { subscription_id: 'sub_2', existing: true }],
    })
    const ran = await svc(['subscribe', '--project', 'My Shop', 'https://ops.example/hook', ...at])
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({ url: 'https://ops.example/hook' })
    expect(ran.out).toBe(
      'subscribed to project My Shop already, as sub_2; if its posts are signed, their secret was shown then\n',
    )
  })

  it.each([
    [['subscribe', 'errs'], 'name a trigger and an address'],
    [['subscribe', 'errs', 'https://x.example', '--fetch'], 'name a trigger, and no address with --fetch'],
    [['subscribe', '--project', 'p'], 'name an address'],
    [['subscribe', '--project', 'p', 'errs', 'https://x.example'], 'a trigger or --project, not both'],
  ])('%j exits with 64', async (argv, message) => {
    const ran = await svc([...argv, ...(await daemon({}))])
    expect(ran.code).toBe(64)
    expect(ran.err).toContain(message)
  })

  it('unsubscribes by id', async () => {
    const at = await daemon({ 'POST /unsubscribe': [200, { ok: true }] })
    expect((await svc(['unsubscribe', 'sub_1', ...at])).out).toBe('sub_1 is unsubscribed\n')
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({ subscription_id: 'sub_1' })
  })

  it('fails to unsubscribe an id that no subscription has, with the sentence that names it', async () => {
    const detail = 'no subscription has the id nosuch'
    const at = await daemon({ 'POST /unsubscribe': [404, { detail }] })
    const ran = await svc(['unsubscribe', 'nosuch', ...at])
    expect(ran.code).not.toBe(0)
    expect([ran.out, ran.err]).toEqual(['', expect.stringContaining(detail)])
  })

  it('lists subscriptions with how the last delivery went', async () => {
    const row: Subscription = {
      subscription_id: 'sub_1',
      trigger: 'errs',
      project: null,
      kind: 'webhook',
      url: 'https://ops.example/ho…',
      format: 'svc',
      name: 'ops',
      created_by: 'root',
      key_id: null,
      created_at: '2026-11-20T11:00:00.000Z',
      disabled_at: null,
      last_delivery: { at: firing.fired_at!, status: 'failed', reason: 'HTTP 404', dispatch_id: ID },
    }
    const gone = { ...row, trigger: null, project: 'uc_1', disabled_at: '2026-11-20T13:00:00.000Z' }
    const at = await daemon({
      'GET /api/subscriptions': [200, { subscriptions: [row, gone], next_before: null }],
    })
    const { out } = await svc(['subscriptions', ...at])
    expect(out).toMatch(/sub_1 +errs +https.* ops +root +failed 2026-11-20T12:00:00.000Z: HTTP 404\n/)
    expect(out).toMatch(/project uc_1.*off since 2026-11-20T13:00:00.000Z: the subscriber said: gone\n/)
  })

  it('says how to make the first one', async () => {
    const at = await daemon({ 'GET /api/subscriptions': [200, { subscriptions: [], next_before: null }] })
    expect((await svc(['subscriptions', 'list', ...at])).out).toContain('svc subscribe <trigger> <url>')
  })
})
