/** 19, step 2: incidents over HTTP: who may act, who acted, who was first, Home, and the link in what is sent. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Home, Incident } from '../../../schemas/types.ts'
import { openDoor, ROOT } from './door.ts'

type Door = Awaited<ReturnType<typeof openDoor>>

/** A door whose source fires a trigger with each event. */
async function open(options: Parameters<typeof openDoor>[0] = {}) {
  const door = await openDoor(options)
  onTestFinished(() => door.close())
  const root = options.secured ? door.as(ROOT) : {}
  const { url, key } = await door.source('app', {
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  await door.call(
    'POST',
    '/api/triggers',
    { name: 't', sources: ['app'], condition: { event: 'any' }, cooldown: '1s' },
    root,
  )
  const fire = async (service = 'checkout') => {
    door.clock.at += 2_000
    await door.call('POST', url, { service }, key ? door.as(key.secret) : root)
  }
  await fire()
  return { door, root, fire }
}

const act = (door: Door, name: string, body: object, headers: Record<string, string> = {}) =>
  door.call('POST', `/api/incidents/inc_1/${name}`, body, headers)
const incidentOf = (answer: { json(): unknown }) => answer.json() as Incident

describe('whoever acts on an incident', () => {
  it('needs scope respond, which admin has; a read key reads', async () => {
    const { door } = await open({ secured: true })
    const { secret: reader } = await door.key(['read'])
    const { secret: responder } = await door.key(['respond'])
    const { secret: admin } = await door.key(['admin'])
    expect((await door.call('GET', '/api/incidents', undefined, door.as(reader))).status).toBe(200)
    const refused = await act(door, 'acknowledge', { version: 1 }, door.as(reader))
    expect([refused.status, refused.json().detail]).toEqual([
      403,
      "this credential lacks the 'respond' scope",
    ])
    expect((await act(door, 'acknowledge', { version: 1 }, door.as(responder))).status).toBe(200)
    expect((await act(door, 'handle', { version: 2 }, door.as(admin))).status).toBe(200)
    expect((await door.call('GET', '/api/incidents', undefined, door.as(responder))).status).toBe(403)
  })

  it('is the name of the key; else of the header; else what was typed; else of the credential', async () => {
    const { door, root } = await open({ secured: true, userHeader: 'x-forwarded-user' })
    const { secret } = await door.key(['respond'])
    const byOf = async (body: object, headers: Record<string, string>) => {
      const { version } = incidentOf(await door.call('GET', '/api/incidents/1', undefined, root))
      await act(door, 'assign', { assignee: null, version, ...body }, headers)
      const { activity } = (
        await door.call('GET', '/api/incidents/inc_1', undefined, root)
      ).json() as unknown as {
        activity: { by: string; via: string }[]
      }
      return [activity[0]!.by, activity[0]!.via]
    }
    const typed = { by: 'typed' }
    const header = { 'x-forwarded-user': 'mara' }
    expect(await byOf(typed, { ...door.as(secret), ...header })).toEqual(['respond', 'key'])
    expect(await byOf(typed, { ...root, ...header })).toEqual(['mara', 'header'])
    expect(await byOf(typed, root)).toEqual(['typed', 'console'])
    expect(await byOf({}, root)).toEqual(['auth token (env)', 'key'])
  })

  it('is nobody’s header where none is named', async () => {
    const { door } = await open()
    const taken = incidentOf(await act(door, 'acknowledge', { version: 1 }, { 'x-forwarded-user': 'mara' }))
    expect(taken.assignee).toBe('somebody')
    const seen = (await door.call('GET', '/api/incidents/inc_1')).json() as unknown as {
      activity: { by: string; via: string }[]
    }
    // No key is there to know them by.
    expect(seen.activity[0]).toMatchObject({ by: 'somebody', via: 'console' })
  })

  it('is refused in the words that it is read with and acted on by', async () => {
    const { door } = await open()
    const opened = incidentOf(await door.call('GET', '/api/incidents/inc_1'))
    expect(opened.accepts).toEqual(['acknowledge', 'assign', 'snooze', 'handle', 'severity'])
    // What is handled takes no more but to be reopened.
    for (const name of [...opened.accepts.filter((one) => one !== 'handle'), 'handle']) {
      const body = { severity: { severity: 'info' }, assign: { assignee: 'mara' } }[name] ?? {}
      const { version } = incidentOf(await door.call('GET', '/api/incidents/inc_1'))
      expect([name, (await act(door, name, { version, ...body })).status]).toEqual([name, 200])
    }
    const { version } = incidentOf(await door.call('GET', '/api/incidents/inc_1'))
    await act(door, 'reopen', { version })
    const refused = await act(door, 'unsnooze', { version: version + 1 })
    expect(refused.status).toBe(409)
    expect(refused.json()).toMatchObject({
      detail:
        'incident inc_1 is open and does not accept unsnooze; it accepts acknowledge, assign, snooze, handle, severity',
      accepts: opened.accepts,
    })
  })

  it.each([
    ['/api/triggers/t/evaluations?before=x', 'before'],
    ['/api/triggers/t/evaluations?before=evt_1', 'before'],
    ['/api/triggers/t/evaluations?reason=bogus', 'reason'],
    ['/api/triggers/t/evaluations?limit=-1', 'limit'],
    ['/api/firings?limit=-1', 'limit'],
    ['/api/deliveries?limit=0', 'limit'],
    ['/api/activity/dispatches?limit=-1', 'limit'],
    ['/api/incidents?limit=0', 'limit'],
    ['/api/change-sets?limit=0', 'limit'],
    ['/api/proposals?limit=-1', 'limit'],
    ['/api/entities?limit=0', 'limit'],
    ['/api/sources/app/events?limit=0', 'limit'],
    ['/api/sources/app/fields?limit=-1', 'limit'],
    ['/api/projects/default/results?limit=0', 'limit'],
    ['/api/projects/default/findings?limit=-1', 'limit'],
  ])('GET %s is a list that cannot be given', async (path, field) => {
    const { door } = await open()
    const answer = await door.call('GET', path)
    expect(answer.status).toBe(400)
    expect(answer.json().detail).toContain(field)
  })

  it('is answered 409 with the incident as it is where another was first', async () => {
    const { door } = await open()
    await act(door, 'acknowledge', { version: 1, by: 'mara' })
    const late = await act(door, 'snooze', { version: 1, by: 'jonas' })
    expect(late.status).toBe(409)
    expect(late.json()).toMatchObject({
      detail: 'incident inc_1 was changed since you looked: it is acknowledged by mara, version 2 and not 1',
      incident: { id: 'inc_1', state: 'acknowledged', acknowledged: { by: 'mara' }, version: 2 },
    })
  })

  it.each([
    ['acknowledge', {}, 'version is required'],
    ['severity', { version: 1 }, 'severity is required'],
    ['severity', { version: 1, severity: 'none' }, 'severity must be one of critical, warning, info'],
    ['snooze', { version: 1, until: 'tomorrow' }, 'until'],
    ['notes', {}, 'text is required'],
    ['assign', { version: 1, assignee: '' }, 'assignee'],
  ])('is told which field is wrong: %s %j', async (name, body, says) => {
    const { door } = await open()
    const answer = await act(door, name, body)
    expect(answer.status).toBe(400)
    expect(answer.json().detail).toContain(says)
  })

  it('acts on up to 200 at once', async () => {
    const { door, fire } = await open()
    await fire('search')
    const answer = await door.call('POST', '/api/incidents/bulk', {
      ids: ['inc_1', 'inc_2'],
      action: 'handle',
      by: 'mara',
    })
    expect(answer.json()).toMatchObject({
      incidents: [{ state: 'handled' }, { state: 'handled' }],
      skipped: [],
    })
    const many = Array.from({ length: 201 }, (_, n) => `inc_${n + 1}`)
    expect((await door.call('POST', '/api/incidents/bulk', { ids: many, action: 'handle' })).status).toBe(400)
    expect((await door.call('POST', '/api/incidents/bulk', { ids: [], action: 'handle' })).status).toBe(400)
    const unknown = await door.call('POST', '/api/incidents/bulk', { ids: ['inc_9'], action: 'handle' })
    expect([unknown.status, unknown.json().detail]).toEqual([404, 'no incident has the id inc_9'])
  })
})

describe('a key of a project', () => {
  it('reads neither the evidence of firings nor the health of all projects; others do, where they ask', async () => {
    const { door, root } = await open({ secured: true })
    const { project } = incidentOf(await door.call('GET', '/api/incidents/inc_1', undefined, root))
    const { secret } = await door.key(['read'], { project: project! })
    const { firings } = (await door.call('GET', '/api/firings', undefined, root)).json() as unknown as {
      firings: { dispatch_id: string }[]
    }
    const evidence = `/api/firings/${firings[0]!.dispatch_id}/evidence`
    expect((await door.call('GET', evidence, undefined, door.as(secret))).status).toBe(403)
    expect((await door.call('GET', evidence, undefined, root)).json()).toMatchObject({ tripped: ['evt_1'] })
    const projectsOf = async (query: string, headers: Record<string, string>) =>
      (
        (await door.call('GET', `/api/projects${query}`, undefined, headers)).json() as unknown as {
          projects: object[]
        }
      ).projects
    const whole = { health: expect.any(Object), today: expect.any(Object) }
    expect(await projectsOf('?health=true', root)).toContainEqual(expect.objectContaining(whole))
    for (const plain of [await projectsOf('', root), await projectsOf('?health=true', door.as(secret))])
      for (const one of plain) expect(one).not.toHaveProperty('health')
  })

  it('reads the incidents of its own project, and never acts', async () => {
    const { door, root } = await open({ secured: true })
    await door.call('POST', '/api/projects', { template: 'custom', name: 'Elsewhere' }, root)
    const told = (await door.call('GET', '/api/incidents/1', undefined, root)).json()
    const { project } = told as unknown as Incident
    const { name } = (await door.call('GET', `/api/projects/${project}`, undefined, root)).json()
    expect(told.project_name).toBe(name)
    const keyOf = async (of: string) => (await door.key(['read', 'findings'], { project: of })).secret
    const [own, other] = [await keyOf(project!), await keyOf('Elsewhere')]
    const listed = async (key: string) =>
      (await door.call('GET', '/api/incidents', undefined, door.as(key))).json() as unknown as {
        incidents: Incident[]
        counts: Home['counts']
      }
    expect((await listed(own)).incidents).toHaveLength(1)
    expect(await listed(other)).toMatchObject({ incidents: [], counts: { open: { warning: 0 } } })
    expect((await door.call('GET', '/api/incidents/1', undefined, door.as(other))).status).toBe(404)
    // Whether others have such a trigger is not told.
    const named = await door.call('GET', '/api/incidents?trigger=nosuch', undefined, door.as(other))
    expect([named.status, named.json().incidents]).toEqual([200, []])
    expect((await act(door, 'acknowledge', { version: 1 }, door.as(own))).status).toBe(403)
    expect((await door.call('GET', '/api/home', undefined, door.as(own))).status).toBe(403)
    const refused = await door.call('POST', '/api/keys', { name: 'x', scopes: ['respond'], project }, root)
    expect(refused.status).toBe(400)
  })

  it('is shown the event that tripped an incident of its own', async () => {
    const { door, root, fire } = await open({ secured: true })
    await door.call('POST', '/api/projects', { template: 'custom', name: 'Elsewhere' }, root)
    const trigger = { sources: ['app'], condition: { event: 'any' }, project: 'Elsewhere' }
    await door.call('POST', '/api/triggers', { ...trigger, name: 'elsewhere' }, root)
    await fire('search')
    const { secret } = await door.key(['read', 'findings'], { project: 'Elsewhere' })
    const answer = (await door.call('GET', '/api/incidents', undefined, door.as(secret))).json()
    expect(answer.incidents).toMatchObject([
      { trigger: 'elsewhere', key: 'search', event: { source: 'app', text: '{"service":"search"}' } },
    ])
  })
})

describe('Home', () => {
  it('is one answer in three states', async () => {
    const door = await openDoor()
    onTestFinished(() => door.close())
    const home = async (of = door) => (await of.call('GET', '/api/home')).json() as unknown as Home
    expect(await home()).toMatchObject({
      state: 'empty',
      incidents: [],
      checklist: { event: false, trigger: false },
    })
    const fired = await open()
    expect(await home(fired.door)).toMatchObject({
      state: 'on_fire',
      incidents: [{ id: 'inc_1' }],
      counts: { open: { warning: 1 } },
      sources: [{ name: 'app', state: 'ok' }],
      today: { events: 1, firings: 1, incidents: 1 },
      strip: { hours: 6, firings: [{ trigger: 't', incident: 'inc_1', severity: 'warning' }], cut: false },
      triggers: [{ name: 't', severity: 'warning', firings: 1, incidents: 1 }],
      checklist: { event: true, trigger: true, notification: false, agent: false },
    })
    await act(fired.door, 'handle', { version: 1 })
    expect(await home(fired.door)).toMatchObject({
      state: 'quiet',
      last_handled: { id: 'inc_1' },
      strip: { hours: 24 },
    })
  })

  it('calls a source quiet where nothing came for a day, and not what is only written now and then', async () => {
    const { door } = await open()
    await door.call('POST', '/api/sources', { name: 'notes', connector: 'memory', config: {} })
    const docs = {
      name: 'runbooks',
      connector: 'reference',
      config: { attachments: [{ name: 'a', content: 'Restart it.' }] },
    }
    await door.call('POST', '/api/sources', docs)
    await door.call('POST', '/api/projects', { template: 'custom', name: 'Shop' })
    const found = { entity: 'checkout', label: 'service', finding: 'It is over.' }
    await door.call('POST', '/api/projects/Shop/findings', found)
    door.clock.at += 2 * 86_400_000
    const { sources } = (await door.call('GET', '/api/home')).json() as unknown as Home
    expect(Object.fromEntries(sources.map(({ name, state }) => [name, state]))).toEqual({
      app: 'quiet',
      findings: 'ok',
      notes: 'ok',
      runbooks: 'ok',
    })
  })

  it('says who asks, as GET /api/whoami does', async () => {
    const { door } = await open({ secured: true })
    const { secret } = await door.key(['read'])
    for (const who of [door.as(ROOT), door.as(secret)]) {
      // Which instance it is, is asked by programs; a page has its address.
      const { workspace, ...asked } = (await door.call('GET', '/api/whoami', undefined, who)).json()
      expect(workspace).toMatchObject({ id: 'local' })
      expect((await door.call('GET', '/api/home', undefined, who)).json().caller).toEqual(asked)
    }
  })

  it('is not sent again to whoever has it', async () => {
    const { door, fire } = await open()
    const first = await door.call('GET', '/api/home')
    const etag = String(first.headers.etag)
    const again = await door.call('GET', '/api/home', undefined, { 'if-none-match': etag })
    expect([again.status, again.text]).toEqual([304, ''])
    await fire('search')
    expect((await door.call('GET', '/api/home', undefined, { 'if-none-match': etag })).status).toBe(200)
  })
})

it('/metrics counts those that are not handled, by state and severity', async () => {
  const { door } = await open()
  const lines = async () => (await door.call('GET', '/metrics')).text.split('\n')
  expect(await lines()).toContain('svc_incidents{state="open",severity="warning"} 1')
  await act(door, 'acknowledge', { version: 1 })
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'svc_incidents{state="open",severity="warning"} 0',
      'svc_incidents{state="acknowledged",severity="warning"} 1',
    ]),
  )
})

it('a live tail tells of incidents that change: of all, or of the entity it asks for', async () => {
  const { door, fire } = await open()
  const told = { all: [] as string[], checkout: [] as string[], source: [] as string[] }
  const follow = (to: string[], filter: object) =>
    door.engine.tail({ selector: {}, sources: [], ...filter }, (message) => {
      if ('incident' in message) to.push(`${message.incident.id} ${message.incident.state}`)
    })
  const tails = [
    await follow(told.all, {}),
    await follow(told.checkout, { selector: { service: 'checkout' } }),
    await follow(told.source, { sources: ['app'] }),
  ]
  await fire('search')
  await act(door, 'acknowledge', { version: 1 })
  for (const { stop } of tails) stop()
  expect(told).toEqual({
    all: ['inc_2 open', 'inc_1 acknowledged'],
    checkout: ['inc_1 acknowledged'],
    source: [],
  })
})
