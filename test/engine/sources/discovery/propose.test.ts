/** Issue 19, 6: the rules of discovery, by what they decide. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { proposeMapping } from '../../../../engine/sources/propose.ts'

const NOW = Date.parse('2026-11-23T12:00:00Z')
const AT = '2026-11-20T12:00:00Z'
const proposed = (...payloads: unknown[]) => proposeMapping(payloads, {}, NOW)
const configOf = (...payloads: unknown[]) => proposed(...payloads).config

describe('the entity', () => {
  it('is the field that more payloads have, with its share', () => {
    const { roles } = proposed({ host: 'a', app: 'x' }, { host: 'b' }, { host: 'c' }, { host: 'd' })
    expect(roles.find(({ role }) => role === 'entity')).toMatchObject({
      field: 'host',
      name: 'host',
      coverage: 1,
    })
    expect(roles.find(({ field }) => field === 'app')).toMatchObject({ role: 'label', coverage: 0.25 })
  })

  it('is the name of a thing, not its id, nor who did it, nor a link to it', () => {
    const config = configOf({
      user: { name: 'mara' },
      server: { id: '550e8400-e29b-41d4-a716-446655440000', name: 'db-1', url: 'https://db-1' },
    })
    expect(config.labels?.[0]).toEqual({ name: 'server', field: 'server.name', primary: true })
  })

  it.each([
    ['what is watched, not who watches', { monitoringService: 'Platform', host: 'a' }, 'host', 'host'],
    [
      'the first of those affected',
      { affectedHosts: ['a', 'b'], team: 'x' },
      'affectedHosts.0',
      'affected_host',
    ],
    ['a target', { alertTargetIDs: ['/rg/vm/a'], rule: 'cpu' }, 'alertTargetIDs.0', 'alert_target_id'],
    [
      'a name before a path',
      { alertTargetIDs: ['/a/b'], configurationItems: ['b'] },
      'configurationItems.0',
      'configuration_item',
    ],
    [
      'a name for people',
      { monitor_friendly_name: 'Shop', monitor_id: 7 },
      'monitor_friendly_name',
      'monitor',
    ],
    ['the name of the whole', { name: 'shop', branch: 'main', queue_id: 1 }, 'name', 'name'],
  ])('is %s', (_, payload, field, name) => {
    expect(configOf(payload).labels?.[0]).toEqual({ name, field, primary: true })
  })

  it('is none where nothing names a thing', () => {
    expect(configOf({ a: 1, b: true }).labels?.some(({ primary }) => primary) ?? false).toBe(false)
  })
})

describe('the time', () => {
  it.each([
    ['seconds since 1970', 1_790_000_000],
    ['milliseconds since 1970', '1790000000000'],
    ['nanoseconds since 1970', '1790000000000000000'],
    ['ISO 8601', AT],
    ['RFC 5322', 'Fri, 20 Nov 2026 12:00:00 GMT'],
    ['RFC 3164', 'Nov 20 12:00:00'],
    ['ISO 8601', '2026/11/20 12:00:00'],
  ])('is told with its form: %s', (format, time) => {
    expect(proposed({ time }).roles).toMatchObject([{ role: 'time', field: 'time', format }])
  })

  it('is when it happened, not when something ends or began', () => {
    const [created_at, finished_at] = ['2026-11-20T10:00:00Z', AT]
    expect(configOf({ expires_at: AT, created_at, finished_at }).event_time_field).toBe('finished_at')
  })

  it('is when it was over, where a field beside it says that, and else when it began', () => {
    const [startsAt, endsAt] = ['2026-11-20T10:00:00Z', AT]
    const both = { event_time_field: 'startsAt', event_end_field: 'endsAt' }
    expect(configOf({ startsAt, endsAt })).toMatchObject(both)
    expect(configOf({ startsAt, endsAt: '0001-01-01T00:00:00Z' })).toMatchObject(both)
    const { roles } = proposed({ opened_at: 1_790_000_000, closed_at: 0 })
    expect(roles.map(({ role, field }) => [role, field])).toEqual([
      ['time', 'opened_at'],
      ['time', 'closed_at'],
    ])
    // What is set stays, and its end is found.
    expect(
      proposeMapping([{ startsAt, endsAt, at: AT }], { event_time_field: 'startsAt' }, NOW).config,
    ).toEqual(both)
    // An end ahead is a plan, and that of another thing says nothing of this one.
    for (const other of [{ endsAt: '2026-11-23T12:30:00Z' }, { window: { endsAt } }, { trialEndsOn: endsAt }])
      expect(configOf({ startsAt, ...other })).toMatchObject({ event_time_field: 'startsAt' })
    expect(configOf({ startsAt, endsAt: '2026-11-23T12:30:00Z' })).not.toHaveProperty('event_end_field')
    expect(configOf({ startsAt, window: { endsAt } })).not.toHaveProperty('event_end_field')
  })

  it.each([
    [
      'Docker Hub, webhooks',
      {
        push_data: { pushed_at: 1_795_000_000, pusher: 'anna', tag: 'latest' },
        repository: { date_created: 1_755_000_000, name: 'shop', status: 'Active' },
      },
      'push_data.pushed_at',
    ],
    [
      'Harbor, project webhooks',
      {
        type: 'PUSH_ARTIFACT',
        occur_at: 1_795_000_000,
        event_data: { repository: { date_created: 1_785_000_000, name: 'shop', namespace: 'acme' } },
      },
      'occur_at',
    ],
    [
      'Google Cloud, notifications of budgets',
      { budgetDisplayName: 'shop', costAmount: 140.3, costIntervalStart: '2026-11-01T08:00:00Z' },
      undefined,
    ],
    [
      'Gitea, a push',
      {
        ref: 'refs/heads/main',
        commits: [{ id: 'a1', message: 'mend', timestamp: '2026-11-19T10:00:00Z' }],
        repository: { name: 'shop', created_at: '2026-01-01T00:00:00Z' },
      },
      undefined,
    ],
    ['an order that was changed', { order: 'A-1', created_at: AT, updated_at: AT }, 'updated_at'],
    ['an order that was made', { order: 'A-1', date_created: AT, delivery_start: AT }, 'date_created'],
  ])('is not that of another thing: %s', (_, payload, field) => {
    expect(configOf(payload).event_time_field).toBe(field)
  })

  it('is no number that only looks like one, and no time that nothing can have', () => {
    expect(configOf({ amount: 1_790_000_000 }).event_time_field).toBeUndefined()
    expect(configOf({ time: '0001-01-01T00:00:00Z' }).event_time_field).toBeUndefined()
  })
})

describe('the type', () => {
  it.each([
    ['a state', { check_type: 'HTTP', current_state: 'DOWN', previous_state: 'UP' }, 'current_state'],
    ['no type of a thing', { repository: { type: 'git' }, build: { state: 'FAILED' } }, 'build.state'],
    ['the state beside a plain type', { type: 'deploy', state: 'failed' }, 'state'],
    ['no code', { alert_type: '1', alert_type_friendly_name: 'Down' }, 'alert_type_friendly_name'],
    ['a type that says it', { type: 'workflow-completed', status: 'success' }, 'type'],
    ['of an event before its state', { event_type: 'deploy', status: 'failed' }, 'event_type'],
    ['no state of before', { old_status: 'up', kind: 'ping' }, 'kind'],
  ])('is what happened: %s', (_, payload, field) => {
    expect(configOf(payload).event_type_field).toBe(field)
  })

  it('is the type where that tells kinds apart', () => {
    const [deploy, build] = ['deploy', 'build'].map((type) => ({ type, state: 'failed' }))
    expect(configOf(deploy, build).event_type_field).toBe('type')
  })
})

describe('the text', () => {
  it('says the thing and its state, where its sentence does not', () => {
    const payload = { service: 'cart', status: 'failed', message: 'tests did not pass' }
    expect(configOf(payload).text_template).toBe('{service} {status}: {message}')
    expect(configOf({ ...payload, message: 'cart: tests did not pass' }).text_template).toBe(
      '{status}: {message}',
    )
    expect(configOf({ ...payload, message: 'a test of cart failed' }).text_template).toBe('{message}')
    expect(configOf({ ...payload, status: 'seven' }).text_template).toBe('{message}')
    // Where some have no sentence, nothing is left over after the state.
    const { message: _none, ...silent } = payload
    expect(configOf(payload, silent).text_template).toBe('{service} {status} {message}')
  })

  it('is made of type, entity and numbers where nothing is a sentence', () => {
    expect(configOf({ type: 'deploy', service: 'cart', seconds: 12 }).text_template).toBe(
      '{type} {service} seconds={seconds}',
    )
  })

  it('takes the sentence of each kind of payload, with the type before it where some have none', () => {
    const [one, other] = [
      { type: 'a', title: 'first of all' },
      { type: 'b', message: 'then the rest' },
    ]
    expect(configOf(one, other).text_template).toBe('{title}{message}')
    expect(configOf(one, other, { type: 'c' }).text_template).toBe('{type} {title}{message}')
    // Two that some payload has are not put one after the other.
    const both = { type: 'd', title: 'a title here', message: 'and a message' }
    expect(configOf(one, both, { type: 'c' }).text_template).toBe('{type} {title}')
  })

  it('has no sign left over where a payload has nothing before it, nor a type that is that of its repository', () => {
    const repository = { type: 'repository', full_name: 'acme/shop' }
    // Bitbucket, event payloads: a push, a pull request, a build status.
    const target = { hash: '709d658dc5b6d6afcd46049c2f332ee3f515a67d', message: 'mend the cart' }
    const config = configOf(
      { repository, push: { changes: [{ new: { type: 'branch', name: 'main', target } }] } },
      { repository, pullrequest: { title: 'Mend the cart', state: 'OPEN', updated_on: AT } },
      { repository, commit_status: { name: 'build', description: 'all tests passed', state: 'SUCCESSFUL' } },
    )
    expect(config.text_template).toBe(
      '{pullrequest.title}{commit_status.description}{push.changes.0.new.target.message}',
    )
    expect(config.event_type_field).not.toBe('repository.type')
  })

  it.each([
    // logging of Python, LogRecord attributes
    [
      { asctime: '2026-11-20 12:00:00,123', levelname: 'ERROR', name: 'shop.pay', message: 'pay failed' },
      { time: 'asctime', type: 'levelname', text: '{message}' },
    ],
    // clef-json.org: by the compact formatter of Serilog, and by the one that renders
    [
      { '@t': AT, '@mt': 'Payment of {User} failed', '@l': 'Error', User: 'bob', Application: 'shop' },
      { time: '@t', type: '@l', text: '{@mt}' },
    ],
    [
      { '@t': AT, '@m': 'Payment of bob failed', '@mt': 'Payment of {User} failed', '@l': 'Error' },
      { time: '@t', type: '@l', text: '{@m}' },
    ],
    // nginx, log_format escape=json
    [
      { time_local: '20/Nov/2026:12:00:00 +0000', request: 'GET /cart HTTP/1.1', status: 502 },
      { time: 'time_local', type: 'status', text: '{status}: {request}' },
    ],
  ])('is what a logger calls so: %j', (payload, { time, type, text }) => {
    expect(configOf(payload)).toMatchObject({
      event_time_field: time,
      event_type_field: type,
      text_template: expect.stringContaining(text),
    })
  })

  it('says what is watched and why, where the payload has it in attributes', () => {
    // Better Stack, outgoing webhooks of an incident
    const attributes = {
      name: 'Web',
      cause: 'Status 500',
      status: 'Started',
      team_name: 'Acme',
      started_at: AT,
    }
    const config = configOf({ data: { id: '1', type: 'incident', attributes } })
    expect(config.text_template).toBe(
      '{data.attributes.name} {data.attributes.status}: {data.attributes.cause}',
    )
    expect(config.labels?.[0]).toEqual({ name: 'name', field: 'data.attributes.name', primary: true })
  })

  it('is none where it would be a number alone, or the same of payloads that say something else each', () => {
    const request = { method: 'GET', uri: '/cart', status: '502' }
    expect(configOf(request, { ...request, status: '200' })).not.toHaveProperty('text_template')
    const [one, other] = ['order 5 is stored', 'payment 7 failed'].map((what) => ({ app: 'shop', what }))
    expect(configOf(one, other)).not.toHaveProperty('text_template')
    // The same each time, and that is all there is to say.
    expect(configOf({ app: 'shop', state: 'up' }, { app: 'shop', state: 'up' }).text_template).toBe(
      '{state} {app}',
    )
  })
})

describe('a list', () => {
  const alert = (service: string) => ({ service, startsAt: AT, summary: 'it is down' })

  it('is split where its entries have their own times, in text that is JSON too', () => {
    expect(configOf({ status: 'firing', alerts: [alert('a'), alert('b')] })).toMatchObject({
      items_field: 'alerts',
      event_time_field: 'startsAt',
    })
    expect(configOf({ Message: JSON.stringify({ records: [alert('a')] }) }).items_field).toBe(
      'Message.records',
    )
  })

  it.each([
    ['ISO 8601', AT],
    ['seconds since 1970', 1_790_000_000],
    ['milliseconds since 1970', 1_790_000_000_000],
    ['microseconds since 1970', 1_790_000_000_000_000],
    ['nanoseconds since 1970', '1790000000000000000'],
  ])('is split by times that are named at, epoch, unix or when: %s', (format, at) => {
    for (const name of ['at', 'epoch', 'unix', 'when', 'epoch_ms']) {
      const entry = { message: 'it is down', [name]: at, host: 'a' }
      const { config, roles } = proposed({ alerts: [entry, { ...entry, host: 'b' }] })
      expect(config).toMatchObject({ items_field: 'alerts', event_time_field: name })
      expect(roles.find(({ role }) => role === 'time')).toMatchObject({ format })
    }
  })

  it('is split without a time where its entries are alike and say what happened', () => {
    const entry = (host: string) => ({ message: `disk of ${host} is full`, host })
    for (const name of [
      'alerts',
      'events',
      'items',
      'records',
      'entries',
      'logs',
      'messages',
      'results',
      'data',
    ])
      expect(configOf({ region: 'eu', [name]: [entry('a'), entry('b')] })).toMatchObject({
        items_field: name,
        text_template: '{message}',
        labels: [{ name: 'host', field: 'host', primary: true }, { name: 'region' }],
      })
    // One entry tells not yet that it is a list of what happened, nor do entries of which some say nothing.
    expect(configOf({ events: [entry('a')] }).items_field).toBeUndefined()
    expect(configOf({ events: [entry('a'), { host: 'b' }] }).items_field).toBeUndefined()
    expect(configOf({ errors_of: [entry('a'), entry('b')] }).items_field).toBeUndefined()
  })

  it('is left where the payload is itself what happened', () => {
    const goods = [{ title: 'a red shirt' }, { title: 'a blue shirt' }]
    for (const around of [{ event_type: 'order.paid' }, { created_at: AT }, { message: 'an order was paid' }])
      expect(configOf({ ...around, items: goods }).items_field).toBeUndefined()
    const order = { event_type: 'order.paid', created_at: AT, line_items: [{ sku: 'x', created_at: AT }] }
    expect(configOf(order).items_field).toBeUndefined()
    expect(configOf({ a: 1, tags: [{ at: AT }], items: [] }).items_field).toBeUndefined()
    const history = ['packed', 'sent'].map((eventType) => ({ eventType, eventTime: AT }))
    const parcel = { event_type: 'parcel.updated', created_at: AT, order: { id: 'A-1' }, events: history }
    expect(configOf(parcel).items_field).toBeUndefined()
  })

  it('is split where its entries say which events they are, and what is around them names nothing', () => {
    // Okta, event hooks
    const entry = (eventType: string) => ({ published: AT, eventType, displayMessage: 'User login to Okta' })
    const events = [entry('user.session.start'), entry('user.lifecycle.create')]
    const around = { eventType: 'com.okta.event_hook', eventTime: AT, source: 'https://acme.okta.com/hooks' }
    expect(configOf({ ...around, data: { events } })).toMatchObject({
      items_field: 'data.events',
      event_type_field: 'eventType',
      event_time_field: 'published',
      text_template: '{displayMessage}',
    })
  })
})

it('whatever the payloads are, the config is one that a source takes', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 5 }), { maxLength: 8 }), (payloads) => {
      const { config, roles } = proposeMapping(payloads, {}, NOW)
      validateConfig('webhook', { ...config })
      for (const { coverage } of roles) expect(coverage).toBeLessThanOrEqual(1)
    }),
    { numRuns: 300 },
  )
  const odd = JSON.parse(
    '{"__proto__":{"service":"x"},"a{b}":"c","":1,"key_value":{"name":"pod"}}',
  ) as unknown
  validateConfig('webhook', { ...configOf(odd) })
})

describe('of what vendors document', () => {
  const alarm = (state: string) => ({
    'detail-type': 'CloudWatch Alarm State Change',
    source: 'aws.cloudwatch',
    time: AT,
    detail: {
      alarmName: 'ServerCpuTooHigh',
      previousState: { value: state === 'OK' ? 'ALARM' : 'OK' },
      state: { value: state },
    },
  })

  it('the value of a state is the state: the type, and in the text, with the alarm (Amazon EventBridge)', () => {
    const config = configOf(alarm('ALARM'), alarm('OK'))
    expect(config).toMatchObject({
      event_type_field: 'detail.state.value',
      text_template: '{detail.alarmName} {detail.state.value}: {detail-type}',
    })
  })

  it('what is only over is told by how it ended, of the pipeline, not of the address of its repository (Buildkite)', () => {
    const build = (event: string, state: string) => ({
      event,
      build: { number: 27, state, message: 'Fix the cart', branch: 'main', started_at: AT },
      pipeline: { slug: 'shop', repository: 'git@github.com:acme/shop.git' },
    })
    const config = configOf(build('build.running', 'running'), build('build.finished', 'failed'))
    expect(config.text_template).toBe('{pipeline.slug} {build.state}: {build.message}')
    expect(config.labels![0]).toMatchObject({ field: 'pipeline.slug', primary: true })
  })

  it('a component is named by its entry of a list, an incident by its name, a page by neither (Statuspage)', () => {
    const config = configOf({
      page: { id: 'jb7j80lkgqvb', status_description: 'All Systems Operational' },
      incident: {
        name: 'Slow queries',
        status: 'identified',
        updated_at: AT,
        components: [{ name: 'Portal' }],
      },
    })
    expect(config.text_template).toBe('{incident.components.0.name} {incident.status}: {incident.name}')
    expect(config.labels![0]).toEqual({
      name: 'component',
      field: 'incident.components.0.name',
      primary: true,
    })
  })

  it('who is to mend it, or who did something by mail, is not what it is about (ServiceNow, Opsgenie)', () => {
    const ticket = { number: 'INC0010112', short_description: 'Checkout is down', state: 'In Progress' }
    const config = configOf({ ...ticket, assignment_group: 'SRE', cmdb_ci: 'checkout', sys_updated_on: AT })
    expect(config.labels![0]).toMatchObject({ field: 'cmdb_ci', primary: true })
    const alert = {
      alias: 'disk-db-1',
      message: 'Disk is almost full',
      source: 'ada@example.com',
      updatedAt: AT,
    }
    expect(configOf({ action: 'Create', alert }).labels![0]).toMatchObject({ field: 'alert.alias' })
  })

  it('the sentence is what went wrong, the type what all have, and no colon is left over (Zabbix, EventBridge, Checkly)', () => {
    const zabbix = {
      hostname: 'web',
      status: 'PROBLEM',
      trigger: 'Agent on web is unreachable',
      item: 'ping (0)',
    }
    expect(configOf(zabbix).text_template).toBe('{status}: {trigger}')
    const kinds = [{ eventName: 'FAILED' }, { state: 'terminated' }, { state: 'running' }].map((detail) => ({
      ...{ 'detail-type': 'State change of something', time: AT, region: 'eu-1', detail },
    }))
    expect(configOf(...kinds).event_type_field).toBe('detail-type')
    const check = (alert_type: string, check_error: string) => ({
      alert_type,
      check_name: 'Home',
      check_error,
    })
    expect(configOf(check('ALERT_FAILURE', 'it said 500'), check('ALERT_RECOVERY', '')).text_template).toBe(
      '{check_name} {alert_type} {check_error}',
    )
  })

  it('text that is JSON in base64 is looked into (Google Pub/Sub)', () => {
    const data = Buffer.from(JSON.stringify({ service: 'cart', message: 'stock is low' })).toString('base64')
    const config = configOf({
      message: { data, messageId: '1', publishTime: AT },
      subscription: 'projects/p/s',
    })
    expect(config).toMatchObject({ text_template: '{message.data.message}' })
    expect(config.labels![0]).toMatchObject({ field: 'message.data.service', primary: true })
  })

  it('no label is named source or text, which triggers take for those of the event (CloudEvents, Falco)', () => {
    const { labels } = configOf(alarm('ALARM'))
    expect(labels).toContainEqual({ name: 'event_source', field: 'source' })
    expect(labels!.map(({ name }) => name)).not.toContain('source')
  })

  it('the status of a list is no label of its entries, each of which has its own (Alertmanager)', () => {
    const alert = (status: string, service: string) => ({ status, labels: { service }, startsAt: AT })
    const alerts = [alert('firing', 'pay'), alert('resolved', 'cart')]
    const { labels, ...config } = configOf({ status: 'firing', receiver: 'svc', alerts })
    expect(config.event_type_field).toBe('status')
    expect(labels!.map((label) => 'field' in label && label.field)).not.toContain('envelope.status')
  })

  it('the output of a rule is the sentence (Falco)', () => {
    const output = '16:31:56.746: Notice A shell was spawned in a container (user=root)'
    const event = { hostname: 'node-1', output, priority: 'Notice', rule: 'Terminal shell', time: AT }
    expect(configOf(event).text_template).toBe('{output}')
  })

  it('a kind that only says that it is an event is not the type, where a topic is there (Intercom)', () => {
    const event = { type: 'notification_event', topic: 'conversation.user.created', created_at: AT }
    expect(configOf(event).event_type_field).toBe('topic')
  })

  it('a kind in another script is a type like any other', () => {
    const event = (type: string) => ({ type, topic: 'alerts', time: AT })
    expect(configOf(event('警告'), event('正常')).event_type_field).toBe('type')
  })

  it('a workspace is what runs are about, before the organization (HCP Terraform)', () => {
    const notifications = [{ message: 'Run Errored', run_status: 'errored', run_updated_at: AT }]
    const names = { workspace_name: 'network', organization_name: 'acme' }
    expect(configOf({ ...names, notifications }).labels?.[0]).toEqual({
      ...{ name: 'workspace', field: 'envelope.workspace_name', primary: true },
    })
  })
})
