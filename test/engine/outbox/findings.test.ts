/** Findings of real runs in the outbox: posted to a receiver and to Slack, sent again, and not lost by a crash. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { OutboxPort } from '../../../engine/outbox/queue.ts'
import { emptySlackEnvironment } from '../../../engine/outbox/slack-api.ts'
import type { AgentWrite, Delivery } from '../../../schemas/types.ts'
import { conclude, error } from '../agents/runs/replies.ts'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import { say, startReceiver } from '../net/egress/receiver.ts'
import { sendFindings } from './sent-findings.ts'
import { slackServer, TOKEN } from './slack/slack-server.ts'

const LONG = `Summary: the deploy broke it.\n\n${'- evidence\n'.repeat(500)}`
const HOUR = 3_600_000

interface Options {
  dataFile?: string
  before?: RunWorld
  slack: Awaited<ReturnType<typeof slackServer>>
}

/** @param before a world that was stopped, whose data file this one opens */
async function openWorld({ slack, dataFile, before }: Options): Promise<RunWorld> {
  const environment = { ...emptySlackEnvironment, botToken: TOKEN, apiUrl: slack.url }
  const world = await openRunWorld({
    slack: environment,
    ...(dataFile ? { dataFile } : {}),
    ...(before ? { clock: before.clock, scripted: before.models } : {}),
  })
  if (!before) await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  return world
}

async function open(options: Partial<Options> = {}) {
  const slack = await slackServer()
  const status = { now: 200 }
  const receiver = await startReceiver((got, response) => say(status.now)(got, response))
  const world = await openWorld({ ...options, slack })
  const sent = sendFindings(world)
  onTestFinished(async () => {
    await sent.stop()
    await receiver.close()
  })
  return { slack, receiver, status, sent, world }
}

/** A finding of an agent. @returns id of its run */
async function find(world: RunWorld, agent: Partial<AgentWrite>, summary = 'Found.'): Promise<string> {
  const known = (await world.engine.listAgents()).agents.some(({ name }) => name === 'first-look')
  if (!known) await world.agent({ name: 'first-look', trigger: 't', model: 'm1', ...agent })
  world.models.reply('m1', [conclude({ summary })])
  await world.post(error)
  return (await world.settled()).at(-1)!.id
}

const only = async ({ engine }: RunWorld, kind: string): Promise<Delivery> => {
  const { deliveries } = await engine.listDeliveries({ kind, limit: 10 })
  expect(deliveries).toHaveLength(1)
  return deliveries[0]!
}

it('18.3: a write-back that failed is listed with its attempts and error, and is sent again like any delivery', async () => {
  const { receiver, status, sent, world } = await open()
  onTestFinished(() => world.close())
  const { engine, clock, run } = world
  status.now = 503
  const id = await find(world, { webhook_url: `${receiver.url}back/secret-part` })
  for (let n = 0; n < 3; n++) {
    await sent.tried()
    clock.at += 10_000
  }
  const failed = await only(world, 'write_back')
  expect(failed).toMatchObject({
    ...{ of: 'finding', run_id: id, trigger: 't', key: 'checkout', status: 'failed', accepts: ['redeliver'] },
    ...{ tries: 3, max_tries: 3, reason: 'HTTP 503', delivered_at: null },
    recipient: { kind: 'write_back', name: 'first-look', subscription_id: null },
  })
  expect(failed.recipient.address).not.toContain('secret-part')
  expect(failed.attempts.map(({ status: http, error: why }) => [http, why])).toEqual(
    Array.from({ length: 3 }, () => [503, 'HTTP 503']),
  )
  expect(await run(id)).toMatchObject({ delivery: 'http 503', delivery_error: 'HTTP 503' })
  status.now = 200
  await engine.redeliver(failed.delivery_id)
  expect(await run(id)).toMatchObject({ delivery: 'pending', delivery_error: null })
  await sent.tried()
  expect(await run(id)).toMatchObject({ delivery: 'ok', delivery_error: null })
  const delivered = await engine.getDelivery(failed.delivery_id)
  expect(delivered).toMatchObject({ status: 'delivered', tries: 1, reason: null })
  expect(delivered.attempts).toHaveLength(4)
  // The receiver knows it by the same key, however often it is sent.
  expect(new Set(receiver.received.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([id]))
})

it('18.3: a post to Slack that failed half way is sent again from there; one that is there is posted anew', async () => {
  const { slack, sent, world } = await open()
  onTestFinished(() => world.close())
  const { engine, run } = world
  slack.says = (_method, { thread_ts }) =>
    thread_ts ? { body: { ok: false, error: 'restricted_action' } } : null
  const id = await find(world, { slack_channel: 'C0ALERTS' }, LONG)
  await sent.tried()
  const failed = await only(world, 'slack')
  expect(failed).toMatchObject({
    ...{ of: 'finding', run_id: id, status: 'failed', tries: 1, max_tries: 6 },
    recipient: { kind: 'slack', name: 'first-look', address: 'slack://channel/C0ALERTS' },
    attempts: [{ error: 'the workspace does not let the bot post there' }],
  })
  expect((await run(id)).slack).toBe('failed')
  slack.says = () => null
  await engine.redeliver(failed.delivery_id)
  await sent.tried()
  expect((await run(id)).slack).toBe('ok')
  const inChannel = () => slack.posted.filter(({ thread_ts }) => thread_ts === undefined).length
  expect([inChannel(), slack.posted.length]).toEqual([1, 2])
  await engine.redeliver(failed.delivery_id)
  await sent.tried()
  expect([inChannel(), slack.posted.length]).toEqual([2, 4])
})

it('18.3: deliveries are narrowed to a kind and to the finding of a run; another kind is refused by name', async () => {
  const { receiver, world } = await open()
  onTestFinished(() => world.close())
  const { engine } = world
  const id = await find(world, { webhook_url: `${receiver.url}back`, slack_channel: 'C0ALERTS' })
  const kinds = async (filter: object) =>
    (await engine.listDeliveries({ ...filter, limit: 10 })).deliveries
      .map(({ recipient }) => recipient.kind)
      .sort()
  expect(await kinds({})).toEqual(['agent', 'slack', 'write_back'])
  expect(await kinds({ kind: 'write_back' })).toEqual(['write_back'])
  expect(await kinds({ run: id })).toEqual(['slack', 'write_back'])
  expect(await kinds({ recipient: 'first-look' })).toEqual(['agent', 'slack', 'write_back'])
  await expect(engine.listDeliveries({ kind: 'pigeon', limit: 1 })).rejects.toMatchObject({
    code: 'invalid',
    message: 'kind must be one of agent, webhook, slack, mcp, write_back, github',
  })
})

it('an agent is not told twice of a firing: its delivery takes no redeliver and says what to do instead', async () => {
  const { world } = await open()
  onTestFinished(() => world.close())
  const id = await find(world, {})
  const delivery = await only(world, 'agent')
  expect(delivery).toMatchObject({ of: 'firing', run_id: id, status: 'delivered', accepts: [] })
  await expect(world.engine.redeliver(delivery.delivery_id)).rejects.toMatchObject({
    code: 'conflict',
    message: `an agent is not told twice of a firing: run ${id} again instead`,
  })
})

it('what is posted of a finding is not the message of a firing', async () => {
  const { receiver, world } = await open()
  onTestFinished(() => world.close())
  const id = await find(world, { webhook_url: `${receiver.url}back` })
  const { delivery_id } = await only(world, 'write_back')
  await expect(world.engine.deliveryMessage(delivery_id)).rejects.toMatchObject({
    code: 'conflict',
    message: `delivery ${delivery_id} is of a finding: run ${id} has what is posted`,
  })
})

it('a receiver that asks to be left alone is left alone, as any recipient is, not for a day more where the clock is set back', async () => {
  const slack = await slackServer()
  const receiver = await startReceiver(say(429, { 'retry-after': '90' }))
  const world = await openWorld({ slack })
  const sent = sendFindings(world)
  onTestFinished(async () => {
    await sent.stop()
    await receiver.close()
    await world.close()
  })
  await find(world, { webhook_url: receiver.url })
  expect(await sent.tried()).toMatchObject({ event: 'retry', dueAt: world.clock.at + 90_000 })
  await sent.stop()
  world.clock.at -= 60_000
  expect(await world.engine.claimDeliveries(16, [])).toEqual([])
  world.clock.at -= 86_400_000
  expect(await world.engine.claimDeliveries(16, [])).toMatchObject([{ kind: 'write_back', tries: 2 }])
  // Its second try is waited for as long as it is to be by the clock as it is now.
  const [{ delivery_id }] = (await world.engine.listDeliveries({ limit: 1, kind: 'write_back' }))
    .deliveries as [Delivery]
  const failed = {
    event: 'retry',
    status: 503,
    reason: 'away',
    at: world.clock.at,
    ms: 0,
    dueAt: world.clock.at + 2_000,
  } as const
  await world.engine.settleDelivery(delivery_id, failed)
  expect(await world.engine.claimDeliveries(16, [])).toEqual([])
})

it('the second finding of an entity is written back after the first, also while that waits', async () => {
  const { receiver, status, sent, world } = await open()
  onTestFinished(() => world.close())
  status.now = 503
  const first = await find(world, { webhook_url: `${receiver.url}back` })
  await sent.tried()
  world.clock.at += 2_000
  const second = await find(world, {})
  status.now = 200
  world.clock.at += 60_000
  await sent.tried()
  while ((await world.run(second)).delivery !== 'ok') await sent.tried()
  const keys = receiver.received.map(({ headers }) => headers['idempotency-key'])
  expect([new Set(keys.slice(0, -1)), keys.at(-1)]).toEqual([new Set([first]), second])
})

const CALLS = ['claim', 'finding', 'note', 'settle'] as const

it.each(CALLS.flatMap((call) => (['before', 'after'] as const).map((side) => [side, call] as const)))(
  '18.3: findings survive a daemon that is killed %s %s: told, one message at most twice',
  async (side, call) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-outbox-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const dataFile = join(folder, 'svc.db')
    const { slack, receiver, world } = await open({ dataFile })
    const id = await find(world, { webhook_url: `${receiver.url}back`, slack_channel: 'C0ALERTS' }, LONG)
    let isDown = false
    let down = () => {}
    const isDead = new Promise<void>((go) => {
      down = go
    })
    const dying = sendFindings(world)
    const cut =
      <A extends unknown[], R>(name: string, real: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        const dies = (when: string) => {
          if (!isDown && name === call && when === side) {
            isDown = true
            down()
          }
          if (isDown) throw new Error('the daemon is down')
        }
        dies('before')
        const answer = await real(...args)
        dies('after')
        return answer
      }
    const { port } = dying
    const dead: Partial<OutboxPort> = Object.fromEntries(
      CALLS.map((name) => [name, cut(name, port[name] as (...args: unknown[]) => Promise<unknown>)]),
    )
    const worker = dying.start(dead)
    worker.nudge()
    await isDead
    await worker.stop()
    await dying.stop()
    await world.runner.stop()
    await world.engine.close()

    const next = await openWorld({ slack, dataFile, before: world })
    const sent = sendFindings(next)
    for (
      let told = await next.run(id);
      told.delivery !== 'ok' || told.slack !== 'ok';
      told = await next.run(id)
    ) {
      next.clock.at += HOUR
      await sent.tried()
    }
    await sent.stop()
    await next.close()
    await world.models.close()
    const keys = receiver.received.map(({ headers }) => headers['idempotency-key'])
    expect(new Set(keys)).toEqual(new Set([id]))
    const messages = slack.posted.length
    expect([keys.length <= 2, messages <= 3], `${keys.length} write-backs, ${messages} messages`).toEqual([
      true,
      true,
    ])
  },
)
