/** Findings of one incident are one message of Slack that is updated (issue 17, part 2.4). */
import { expect, it, onTestFinished } from 'vitest'
import { emptySlackEnvironment } from '../../../../engine/outbox/slack-api.ts'
import { conclude, error } from '../../agents/runs/replies.ts'
import { openRunWorld } from '../../agents/runs/run-world.ts'
import { sendFindings } from '../sent-findings.ts'
import { slackServer, TOKEN } from './slack-server.ts'

const MINUTE = 60_000

async function open() {
  const slack = await slackServer()
  const world = await openRunWorld({
    slack: { ...emptySlackEnvironment, botToken: TOKEN, apiUrl: slack.url },
  })
  const { clock, models } = world
  const { tried, stop } = sendFindings(world)
  onTestFinished(async () => {
    await stop()
    await world.close()
  })
  await world.trigger({ condition: { event: 'any' }, cooldown: '1m' })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1', slack_channel: 'C0ALERTS' })
  /** Something happens, is found, and is told to Slack. */
  const found = async (summary: string, verdict: string, after = 2 * MINUTE) => {
    models.reply('m1', [conclude({ summary, verdict, headline: summary.split('.')[0] })])
    clock.at += after
    await world.post(error)
    await world.settled()
    return await tried()
  }
  return { slack, found, tried, ...world }
}

const said = (message: object) => JSON.stringify(message)

it('the message in the channel is updated, every note is in its thread, and another verdict is told to the channel', async () => {
  const { slack, found } = await open()
  await found('Payments fail. All of them.', 'deploy')
  expect(await found('It goes on. 40 more.', 'deploy')).toMatchObject({ event: 'acknowledge' })
  await found('The pool is exhausted. Not the deploy.', 'database')
  const root = '1700000000.000001'
  const [first, ...thread] = slack.posted
  expect(first).not.toHaveProperty('thread_ts')
  expect(thread.map(({ thread_ts, all }) => [thread_ts, all.reply_broadcast])).toEqual([
    [root, undefined],
    [root, undefined],
    [root, 'true'],
  ])
  // The first note was in the channel alone, where the update takes its place.
  expect(thread.map(({ blocks }) => said(blocks[1]!))).toEqual([
    expect.stringContaining('All of them.'),
    expect.stringContaining('40 more.'),
    expect.stringContaining('Not the deploy.'),
  ])
  expect(slack.updated.map(({ channel, ts }) => [channel, ts])).toEqual([
    ['C0ALERTS', root],
    ['C0ALERTS', root],
  ])
  const now = said(slack.updated[1]!.blocks)
  expect(now).toContain('Not the deploy.')
  expect(now).toContain('*Verdict*\\ndatabase')
  expect(now).toContain('*Other verdicts*\\ndeploy')
  expect(now).toContain('3 findings of 3 runs')
})

it('another message is posted for another incident, and where the first is gone', async () => {
  const world = await open()
  const { slack, found } = world
  const { engine } = world
  await found('One. A.', 'deploy')
  await engine.actOnIncident('inc_1', { action: 'handle' }, { by: 'mara', via: 'console' })
  await found('Two. B.', 'deploy', 60 * MINUTE)
  expect([slack.posted.length, slack.updated.length]).toEqual([2, 0])
  slack.says = (method) =>
    method === 'chat.update' ? { body: { ok: false, error: 'message_not_found' } } : null
  expect(await found('Three. C.', 'deploy')).toMatchObject({ event: 'acknowledge' })
  expect(slack.posted[2]).not.toHaveProperty('thread_ts')
  slack.says = () => null
  await found('Four. D.', 'deploy')
  expect(slack.updated.map(({ ts }) => ts)).toEqual(['1700000000.000003'])
})

it('a try that failed half way goes on, and says nothing twice', async () => {
  const { slack, found, tried, clock } = await open()
  await found('One. A.', 'deploy')
  let left = 1
  slack.says = (_method, { thread_ts }) =>
    thread_ts && left-- <= 0 ? { status: 429, headers: { 'retry-after': '40' }, body: 'later' } : null
  expect(await found('Two. B.', 'deploy')).toMatchObject({ event: 'retry' })
  expect(slack.posted.map(({ thread_ts }) => thread_ts !== undefined)).toEqual([false, true])
  slack.says = () => null
  clock.at += 40_000
  expect(await tried()).toMatchObject({ event: 'acknowledge' })
  expect(slack.posted.map(({ thread_ts }) => thread_ts !== undefined)).toEqual([false, true, true])
})

it('18.3: a message that fails for long lets later ones of its incident pass; short waits keep the order', async () => {
  const { slack, found, tried, clock, settled, models, engine } = await open()
  slack.says = (_method, { blocks = '' }) => (blocks.includes('A.') ? { status: 503, body: 'down' } : null)
  // Tried again after 1, 5 and 30 seconds: what comes meanwhile waits for it.
  expect(await found('One. A.', 'deploy')).toMatchObject({ event: 'retry' })
  const { runs } = await engine.listRuns({ limit: 1, offset: 0 })
  models.reply('m1', [conclude({ summary: 'Two. B.', verdict: 'deploy', headline: 'Two' })])
  await engine.rerun(runs[0]!.id, { asOf: 'same', practice: false })
  await settled()
  for (const wait of [1_000, 5_000, 30_000]) {
    clock.at += wait
    expect(await tried()).toMatchObject({ event: 'retry' })
  }
  expect(slack.posted).toEqual([])
  // Then after two minutes: nobody waits so long for a message that is fine.
  expect(await tried()).toMatchObject({ event: 'acknowledge' })
  expect(slack.posted.map(({ blocks }) => said(blocks))).toEqual([expect.stringContaining('B.')])
  slack.says = () => null
  clock.at += 120_000
  expect(await tried()).toMatchObject({ event: 'acknowledge' })
  expect(slack.posted.map(({ blocks, thread_ts }) => [thread_ts, said(blocks)])).toEqual([
    [undefined, expect.stringContaining('B.')],
    // In the thread of its incident, which goes on to show the later one.
    ['1700000000.000001', expect.stringContaining('A.')],
  ])
})
