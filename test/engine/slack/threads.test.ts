/** One thread for an incident, which follows its life, over starts and kills. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { outboxPort } from '../../../engine/outbox/queue.ts'
import { turn } from '../net/egress/setup.ts'
import { buttonsOf, CHANNEL, openSlackWorld, pressOf, type SlackWorld } from './slack-world.ts'

const MARA = { by: 'mara', via: 'console' } as const
const item = { service: 'pay', type: 'error', msg: 'it broke' }

/** Resolves once Slack has no more to be told. */
async function followed({ engine, clock, follower }: SlackWorld): Promise<void> {
  clock.at += 5_000
  follower.nudge()
  while ((await engine.nextSlackWork()) !== null) await turn()
}

async function tripped(world: SlackWorld, service = 'pay'): Promise<void> {
  const sent = world.sent()
  await world.post({ ...item, service })
  await sent
}

async function opened(more: Parameters<typeof openSlackWorld>[0] = {}) {
  const world = await openSlackWorld(more)
  await world.subscribed()
  await tripped(world)
  await followed(world)
  return { ...world, head: () => world.slack.messages(CHANNEL)[0]! }
}

const texts = (blocks: object[]) => JSON.stringify(blocks)

it('the first firing heads a thread, later ones and what people do are in it, and it shows where the incident stands', async () => {
  const world = await opened()
  const { slack, engine, clock, head } = world
  expect(texts(head().blocks)).toContain('Incident inc_1: warning, open, nobody has it yet; 1 firing since')
  expect(buttonsOf(head()).map(({ action_id }) => action_id)).toEqual([
    ...['svc_firing', 'svc_do_acknowledge', 'svc_do_handle', 'svc_do_snooze'],
  ])
  clock.at += 60_000
  await tripped(world)
  await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
  await engine.actOnIncident('inc_1', { action: 'notes', text: 'Rolling <back>' }, MARA)
  await followed(world)
  expect(texts(head().blocks)).toContain('acknowledged by mara; 2 firings since')
  await engine.actOnIncident('inc_1', { action: 'handle' }, MARA)
  await followed(world)
  const [root, ...thread] = slack.messages(CHANNEL)
  expect(thread.every(({ thread_ts }) => thread_ts === root!.ts)).toBe(true)
  expect(thread.map(({ blocks }) => texts(blocks))).toEqual([
    expect.stringContaining('it broke'),
    expect.stringMatching(/Acknowledged by mara.*mara: Rolling &lt;back&gt;/),
    expect.stringContaining('Handled by mara'),
  ])
  expect(texts(head().blocks)).toContain('handled by mara')
  expect(buttonsOf(head()).map(({ action_id }) => action_id)).toEqual(['svc_firing', 'svc_do_reopen'])
  // Another incident has another thread.
  clock.at += 60_000
  await tripped(world)
  await followed(world)
  expect(slack.messages(CHANNEL).filter(({ thread_ts }) => thread_ts === undefined)).toHaveLength(2)
})

it('links to the posts are kept with the incident', async () => {
  const world = await opened()
  await world.engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
  await followed(world)
  const { slack: posts } = await world.engine.getIncident('inc_1', null)
  const [root, reply] = world.slack.messages(CHANNEL)
  const link = (ts: string) => `https://acme.slack.com/archives/${CHANNEL}/p${ts.replace('.', '')}`
  expect(posts).toMatchObject([
    {
      channel: CHANNEL,
      ts: root!.ts,
      thread_ts: null,
      kind: 'opened',
      permalink: link(root!.ts),
      problem: null,
    },
    { ts: reply!.ts, thread_ts: root!.ts, kind: 'activity', permalink: link(reply!.ts) },
  ])
})

it('a kill between a post and its record repeats neither the firing nor the reply, where the bot may look', async () => {
  const world = await openSlackWorld()
  const { slack, engine, outbox, startSending } = world
  await world.subscribed()
  await outbox.stop()
  const dead = startSending({
    placed: () => new Promise<never>(() => {}),
    settle: async () => {},
  })
  await world.post(item)
  dead.nudge()
  await slack.until(() => slack.posted.length === 1)
  void dead.stop()
  // What the next start does with it.
  const { deliveries } = await engine.listDeliveries({ kind: 'slack', limit: 1 })
  const id = deliveries[0]!.delivery_id
  await engine.settleDelivery(id, {
    ...{ event: 'interrupted', at: world.clock.at, ms: 0, status: null, reason: '', dueAt: undefined },
  })
  const sent = world.sent()
  startSending().nudge()
  await sent
  expect(slack.posted).toHaveLength(1)
  await followed(world)
  await world.follower.stop()
  await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
  world.clock.at += 5_000
  // Its reply is posted, and the daemon is killed before it is written down.
  const work = (await engine.claimSlackWork())!
  const metadata = {
    event_type: 'svc_thread',
    event_payload: { subject: 'inc_1', up_to: String(work.reply!.upTo) },
  }
  await world.accounts.api(
    'chat.postMessage',
    { channel: CHANNEL, thread_ts: work.ts, text: 'x', blocks: work.reply!.blocks, metadata },
    await engine.slackAccess(),
  )
  await followed({ ...world, follower: world.startThreads() })
  expect(slack.posted).toHaveLength(2)
  expect(await engine.nextSlackWork()).toBeNull()
  const { slack: posts } = await engine.getIncident('inc_1', null)
  expect(posts.map(({ kind }) => kind)).toEqual(['opened', 'activity'])
})

it('without the scope to look, a firing that was cut off is posted again: told twice, never not at all', async () => {
  const world = await openSlackWorld()
  world.slack.scopes = ['chat:write']
  await world.subscribed()
  await world.outbox.stop()
  await world.post(item)
  const [claimed] = await outboxPort(world.engine).claim(1, [])
  await world.engine.settleDelivery(claimed!.deliveryId, {
    ...{ event: 'interrupted', at: world.clock.at, ms: 0, status: null, reason: '', dueAt: undefined },
  })
  const sent = world.sent()
  world.startSending().nudge()
  await sent
  expect(world.slack.posted).toHaveLength(1)
})

it('a message that was deleted in Slack is said to be gone, and nothing is tried without end', async () => {
  const world = await opened()
  const { slack, engine } = world
  slack.says = (method) =>
    method === 'chat.update' || method === 'chat.postMessage'
      ? { body: { ok: false, error: 'channel_not_found' } }
      : null
  await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
  await followed(world)
  const { slack: posts } = await engine.getIncident('inc_1', null)
  expect(posts[0]!.problem).toContain('Slack has no such channel')
})

it('Slack that asks to be called less often is called again after as long as it says', async () => {
  const world = await opened()
  const { slack, engine, clock, follower } = world
  const calls = slack.calls('chat.postMessage')
  slack.says = (method) =>
    method === 'chat.postMessage' ? { status: 429, headers: { 'retry-after': '40' }, body: '' } : null
  await engine.actOnIncident('inc_1', { action: 'acknowledge' }, MARA)
  clock.at += 5_000
  follower.nudge()
  await slack.until(() => slack.calls('chat.postMessage') === calls + 1)
  while ((await engine.nextSlackWork()) !== clock.at + 40_000) await turn()
  slack.says = () => null
  clock.at += 40_000
  await followed(world)
  expect(slack.messages(CHANNEL)).toHaveLength(2)
})

it('a proposal is posted to the channel that is named, and approved or declined from there', async () => {
  const world = await openSlackWorld()
  const { slack, engine, request, press, calls } = world
  await world.subscribed()
  await calls.saveSlackPeople({
    people: [
      { user: 'U1', rights: 'admin', name: 'mara' },
      { user: 'U2', rights: 'respond' },
    ],
    proposals_channel: CHANNEL,
  })
  const by = { caller: { id: 'key:7', name: 'claude' }, origin: 'mcp' } as const
  const proposed = await engine.propose(
    {
      operations: [{ op: 'patch', kind: 'trigger', name: 't', spec: { cooldown: '5m' } }],
      why: 'too <loud>',
    },
    by,
  )
  await followed(world)
  const message = () => slack.messages(CHANNEL)[0]!
  expect(texts(message().blocks)).toContain('too &lt;loud&gt;')
  const approve = pressOf(message(), 'approve')
  await request(press(approve, { user: { id: 'U2', name: 'sam' } }))
  expect((await engine.getProposal(proposed.id)).state).toBe('open')
  await request(press(approve))
  expect(await engine.getProposal(proposed.id)).toMatchObject({
    state: 'approved',
    decided_by: 'mara in Slack',
  })
  await followed(world)
  expect(texts(message().blocks)).toContain('approved by mara in Slack')
  expect(buttonsOf(message())).toEqual([
    expect.objectContaining({
      action_id: 'svc_proposal',
      url: expect.stringMatching(new RegExp(`/changes\\?proposal=${proposed.id}$`)),
    }),
  ])
  await request(press(approve))
  await world.hooks.arrived(2)
  expect(world.hooks.received[1]!.body).toContain('Not done')
})

it.each(['null', '{}', '{"text":"x","blocks":[null]}'])(
  'a thread whose message is stored as %s is left, with the reason, and holds up no other; its activity is told as far as it goes',
  async (root) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-threads-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const dataFile = join(folder, 'svc.db')
    const world = await opened({ dataFile })
    const { engine, clock, slack, errors } = world
    clock.at += 60_000
    await tripped(world, 'cart')
    await followed(world)
    await world.follower.stop()
    for (const id of ['inc_1', 'inc_2']) {
      await engine.actOnIncident(id, { action: 'assign', assignee: 'jo' }, MARA)
      await engine.actOnIncident(id, { action: 'notes', text: 'look' }, MARA)
    }
    const db = new BetterSqlite3(dataFile)
    db.prepare('UPDATE slack_threads SET root = ? WHERE incident_id = 1').run(root)
    db.prepare(
      "UPDATE incident_activity SET detail = 'null' WHERE incident_id = 2 AND action = 'assigned'",
    ).run()
    db.close()
    const follower = world.startThreads()
    onTestFinished(() => follower.stop())
    await followed({ ...world, follower })
    expect(errors).toEqual([])
    const { slack: posts } = await engine.getIncident('inc_1', null)
    expect(posts[0]).toMatchObject({ problem: 'its message is not stored as one' })
    const replies = slack.messages(CHANNEL).filter(({ thread_ts }) => thread_ts !== undefined)
    expect(replies.map(({ blocks }) => texts(blocks))).toEqual([
      expect.stringMatching(/Assigned to nobody by mara.*mara: look/),
    ])
    expect(await engine.nextSlackWork()).toBeNull()
  },
)
