/** Buttons that act, under the rights that an admin gave to people of Slack. */
import { expect, it } from 'vitest'
import { turn } from '../net/egress/setup.ts'
import { CHANNEL, openSlackWorld, pressOf, type SlackWorld } from './slack-world.ts'

async function opened() {
  const world = await openSlackWorld()
  await world.subscribed()
  const sent = world.sent()
  await world.post({ service: 'pay', type: 'error', msg: 'it broke' })
  await sent
  const head = () => world.slack.messages(CHANNEL)[0]!
  return { ...world, head, incident: () => world.engine.getIncident('inc_1', null) }
}

/** What was told to whoever pressed, alone. */
async function told({ hooks }: SlackWorld, n: number): Promise<{ text: string; blocks?: object[] }> {
  await hooks.arrived(n)
  const said = JSON.parse(hooks.received[n - 1]!.body) as {
    response_type: string
    replace_original: boolean
    text: string
  }
  expect(said).toMatchObject({ response_type: 'ephemeral', replace_original: false })
  return said
}

it('whoever is not mapped is told so alone, with who can change that, and nothing happens', async () => {
  const world = await opened()
  const { request, press, head, incident } = world
  expect(await request(press(pressOf(head(), 'acknowledge')))).toEqual({})
  expect((await told(world, 1)).text).toBe(
    'You may not acknowledge incidents from Slack. An admin of svc can give you (U1) the right “respond” under Settings, Slack.',
  )
  await world.allow('U1', 'read')
  await request(press(pressOf(head(), 'handle')))
  expect((await told(world, 2)).text).toContain('You may not mark incidents handled')
  expect(await incident()).toMatchObject({ state: 'open', activity: [{ action: 'opened' }] })
})

it('acknowledge, snooze and handled are done as the person, who is in the activity', async () => {
  const world = await opened()
  const { request, press, head, incident, follower, engine, clock } = world
  await world.allow('U1', 'respond', 'Maria M')
  const after = async () => {
    clock.at += 5_000
    follower.nudge()
    while ((await engine.nextSlackWork()) !== null) await turn()
  }
  await request(press(pressOf(head(), 'acknowledge')))
  expect(await incident()).toMatchObject({ state: 'acknowledged', acknowledged: { by: 'Maria M' } })
  await after()
  await request(press(pressOf(head(), 'snooze', 1)))
  const until = new Date(clock.at + 4 * 3_600_000).toISOString()
  expect(await incident()).toMatchObject({ state: 'snoozed', snoozed_until: until })
  await after()
  await request(press(pressOf(head(), 'handle')))
  const { activity } = await incident()
  expect(activity.slice(0, 3)).toMatchObject([
    { action: 'handled', by: 'Maria M', via: 'slack', how: 'person' },
    { action: 'snoozed', by: 'Maria M', via: 'slack' },
    { action: 'acknowledged', by: 'Maria M', via: 'slack' },
  ])
})

it('who comes too late is told who was first, and gets the buttons of now', async () => {
  const world = await opened()
  const { request, press, head, engine, incident } = world
  await world.allow('U1', 'respond')
  const stale = pressOf(head(), 'acknowledge')
  await engine.actOnIncident('inc_1', { action: 'acknowledge' }, { by: 'mara', via: 'console' })
  await request(press(stale))
  const said = await told(world, 1)
  expect(said.text).toBe('Not done: incident inc_1 was acknowledged by mara at 12:00 UTC.')
  await request(press(pressOf({ blocks: said.blocks! }, 'handle')))
  expect(await incident()).toMatchObject({ state: 'handled', handled: { by: 'maria' } })
})

it('a press that Slack sends twice is done once, also by the next start', async () => {
  const world = await opened()
  const { request, press, head, incident, open, signed } = world
  await world.allow('U1', 'respond')
  const body = press(pressOf(head(), 'acknowledge'))
  await Promise.all([request(body), request(body)])
  await open().calls.slackRequest(signed(body))
  const { activity } = await incident()
  expect(activity.filter(({ action }) => action === 'acknowledged')).toHaveLength(1)
  expect(world.hooks.received).toEqual([])
})

it('a button that somebody made up does nothing', async () => {
  const { request, press, incident, errors, hooks, allow } = await opened()
  await allow('U1', 'admin')
  const ofOne = '"of":"inc_1","v":1'
  for (const value of [
    ...['{', 'null', '7', '{"do":"constructor","of":"inc_1"}', '{"do":"handle"}'],
    ...['{"do":"handle","of":"inc_1","v":"1"}', `{"do":"snooze",${ofOne},"h":1e99}`],
    ...[
      `{"do":"snooze",${ofOne},"h":"x"}`,
      `{"do":"snooze",${ofOne},"h":-4}`,
      `{"do":"rerun",${ofOne},"i":{}}`,
    ],
  ])
    expect(await request(press({ action_id: 'svc_do_handle', type: 'button', value }))).toEqual({})
  expect(await incident()).toMatchObject({ state: 'open' })
  expect([errors, hooks.received]).toEqual([[], []])
})

it('people are mapped by e-mail address, looked up once; nobody and twice the same are refused by name', async () => {
  const { calls, slack } = await openSlackWorld()
  expect(await calls.saveSlackPeople({ people: [{ email: 'mara@example.com', rights: 'admin' }] })).toEqual({
    people: [{ user: 'U0MARA', email: 'mara@example.com', name: 'Mara Example', rights: 'admin' }],
    ...{ everyone: 'read', proposals_channel: '' },
  })
  const refused = (people: object[]) => calls.saveSlackPeople({ people: people as never })
  await expect(refused([{ email: 'x@example.com', rights: 'read' }])).rejects.toThrow(
    'people[0].email: nobody in the workspace has it',
  )
  await expect(
    refused([
      { user: 'U0MARA', rights: 'read' },
      { email: 'mara@example.com', rights: 'read' },
    ]),
  ).rejects.toThrow('people[1]: the same person is there twice')
  await expect(refused([{ rights: 'read' }])).rejects.toThrow('people[0] must have either user or email')
  // Where Slack cannot be asked it is kept, and looked up by the test.
  slack.says = (method) =>
    method === 'users.lookupByEmail'
      ? { body: { ok: false, error: 'missing_scope', needed: 'users:read.email' } }
      : null
  const kept = await calls.saveSlackPeople({ people: [{ email: 'mara@example.com', rights: 'admin' }] })
  expect(kept.people[0]).toMatchObject({ user: '', problem: expect.stringContaining('users:read.email') })
  expect(await calls.testSlack()).toMatchObject({ people_not_found: ['mara@example.com'] })
  slack.says = () => null
  expect(await calls.testSlack()).toMatchObject({ people_not_found: [] })
  expect((await calls.slackPeople()).people[0]).toMatchObject({ user: 'U0MARA' })
})
