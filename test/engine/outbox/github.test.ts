/** Findings written on GitHub by real runs: who may, where, once, and again after a crash. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sign } from '@octokit/webhooks-methods'
import { expect, it, onTestFinished } from 'vitest'
import { fail } from '../../../engine/errors.ts'
import type { AgentWrite, Delivery } from '../../../schemas/types.ts'
import { conclude } from '../agents/runs/replies.ts'
import { openRunWorld, type RunWorld } from '../agents/runs/run-world.ts'
import {
  APP_ID,
  type GithubAppServer,
  githubAppServer,
  place,
  REPO,
  SHA,
} from '../declared/credentials/github-app-server.ts'
import { BY } from '../triggers/trigger-world.ts'
import { sendFindings } from './sent-findings.ts'

const PUBLIC = 'https://svc.example.com'
const WRITES: Partial<AgentWrite> = {
  ...{ github: 'main', github_writes: ['comment', 'check'], concludes: true },
  verdicts: [
    { verdict: 'broken', check: 'failure' },
    { verdict: 'fine', check: 'success' },
    { verdict: 'unclear' },
  ],
}

interface Options {
  token?: string
  dataFile?: string
  before?: RunWorld
  github?: GithubAppServer
}

async function open({ token, dataFile, before, github: known }: Options = {}) {
  const clock = before?.clock
  const world: RunWorld = await openRunWorld({
    ...(dataFile ? { dataFile } : {}),
    ...(before ? { clock: before.clock, scripted: before.models } : {}),
  })
  const github = known ?? (await githubAppServer(() => (clock ?? world.clock).at))
  const sent = sendFindings(world, { publicUrl: PUBLIC })
  if (!before) {
    const secret = token === undefined ? { app_id: APP_ID, private_key: github.privateKey } : { token }
    await world.engine.storeCredential({ name: 'main', api_url: github.url, ...secret })
    const { ingest_key: key } = await world.engine.createSource(
      { name: 'hub', connector: 'github_app', config: { signature_secret: 'x' } },
      BY,
      false,
    )
    await world.trigger({ sources: ['hub'], condition: { event: 'any' }, cooldown: '1s' })
    Object.assign(sent, { key })
  }
  return { world, github, sent: sent as typeof sent & { key: string } }
}

const pull = (action: string, more: object = {}) => ({
  action,
  repository: { full_name: REPO },
  sender: { login: 'ada' },
  pull_request: { number: 7, title: 'Faster carts', state: 'open', head: { ref: 'fast', sha: SHA } },
  ...more,
})

/** A delivery, and what its agent finds. @returns id of the run */
async function find(
  { world, sent }: Awaited<ReturnType<typeof open>>,
  payload: object,
  { agent = WRITES, finding = {} }: { agent?: Partial<AgentWrite>; finding?: Record<string, unknown> } = {},
): Promise<string> {
  const known = (await world.engine.listAgents()).agents.some(({ name }) => name === 'review')
  if (!known) await world.agent({ name: 'review', trigger: 't', model: 'm1', ...agent })
  world.models.reply('m1', [conclude({ verdict: 'broken', headline: 'Carts are slower', ...finding })])
  world.clock.at += 60_000
  const body = JSON.stringify(payload)
  await world.engine.ingest({
    ...{ ingestKey: sent.key, bypassCooldown: false, caller: 'open' },
    body: Buffer.from(body),
    headers: {
      'x-github-event': 'pull_request' in payload ? 'pull_request' : 'push',
      'x-hub-signature-256': await sign('x', body),
    },
  })
  return (await world.settled()).at(-1)!.id
}

const deliveriesOf = async ({ engine }: RunWorld): Promise<Delivery[]> =>
  (await engine.listDeliveries({ kind: 'github', limit: 10 })).deliveries

it('are a comment on the pull request and a check of its commit, which says how the verdict ends it', async () => {
  const opened = await open()
  const { world, github, sent } = opened
  onTestFinished(() => world.close())
  const id = await find(opened, pull('opened'), {
    finding: { summary: 'See line 3.', next_step: 'Revert it.' },
  })
  expect(await world.run(id)).toMatchObject({ github: 'pending', github_error: null })
  await sent.tried()
  expect(await world.run(id)).toMatchObject({ github: 'ok', github_error: null })
  expect([...github.comments.values()]).toEqual([{ number: 7, body: expect.any(String) }])
  const { body } = [...github.comments.values()][0]!
  for (const said of [
    ...['**Carts are slower**', 'See line 3.', '**Next step:** Revert it.', 'verdict `broken`'],
    `[review](${PUBLIC}/runs/${id})`,
  ])
    expect(body).toContain(said)
  expect([...github.checkRuns.values()]).toMatchObject([
    {
      ...{ name: 'svc / review', head_sha: SHA, external_id: id, status: 'completed', conclusion: 'failure' },
      ...{ details_url: `${PUBLIC}/runs/${id}`, output: { title: 'Carts are slower' } },
    },
  ])
  expect(await deliveriesOf(world)).toMatchObject([
    {
      status: 'delivered',
      tries: 1,
      max_tries: 6,
      recipient: { kind: 'github', name: 'review', address: 'GitHub' },
    },
  ])
})

it('of an incident write over one comment, and leave what others wrote', async () => {
  const opened = await open()
  const { world, github, sent } = opened
  onTestFinished(() => world.close())
  github.comments.set(1, { number: 7, body: 'By a person.' })
  await find(opened, pull('opened'))
  await sent.tried()
  await find(opened, pull('synchronize'), { finding: { verdict: 'fine', headline: 'Carts are fast again' } })
  await sent.tried()
  const bodies = [...github.comments.values()].map(({ body }) => body)
  expect(bodies[0]).toBe('By a person.')
  expect(bodies.at(-1)).toContain('Carts are fast again')
  expect([...github.checkRuns.values()].map(({ conclusion }) => conclusion)).toEqual(['failure', 'success'])
})

it('go nowhere unless the agent says so and the event names a place', async () => {
  const opened = await open()
  const { world } = opened
  onTestFinished(() => world.close())
  const off = await find(opened, pull('opened'), {
    agent: { github: 'main', concludes: true, verdicts: WRITES.verdicts! },
  })
  expect(await world.run(off)).toMatchObject({ github: null, github_error: null })
  await world.engine.updateAgent('review', { prompt: 'Look.', ...WRITES, github_writes: ['comment'] }, BY)
  // A push has a commit, and no number.
  const push = { repository: { full_name: REPO }, ref: 'refs/heads/main', after: SHA, commits: [] }
  expect(await world.run(await find(opened, push))).toMatchObject({ github: null })
  expect(await deliveriesOf(world)).toEqual([])
  expect(await world.run(await find(opened, pull('opened')))).toMatchObject({ github: 'pending' })
})

it('say why they are not there: a token takes no check, and a place that the app does not have', async () => {
  const opened = await open({ token: 'ghp_canary0ofaperson' })
  const { world, github, sent } = opened
  onTestFinished(() => world.close())
  github.tokens.set('ghp_canary0ofaperson', { installation: 1, endsAt: Number.MAX_SAFE_INTEGER })
  const id = await find(opened, pull('opened'))
  await sent.tried()
  // The comment is there all the same.
  expect(github.comments.size).toBe(1)
  expect(await world.run(id)).toMatchObject({
    ...{
      github: 'failed',
      github_error: 'a check takes a credential that is an app; GitHub takes none with a token',
    },
  })
  const other = await find(opened, pull('opened', { repository: { full_name: 'other/thing' } }))
  await sent.tried()
  expect((await world.run(other)).github).toBe('failed')
  const [last] = await deliveriesOf(world)
  expect(last!.attempts).toHaveLength(1)
  expect(JSON.stringify(last)).not.toContain('ghp_canary')
})

it('are tried again while GitHub is away, and a token that it took back is followed by another', async () => {
  const opened = await open()
  const { world, github, sent } = opened
  onTestFinished(() => world.close())
  github.refusals.push({ method: 'POST', path: /\/check-runs$/, status: 502 })
  const id = await find(opened, pull('opened'))
  await sent.tried()
  expect(github.comments.size).toBe(1)
  expect(await world.run(id)).toMatchObject({
    ...{ github: 'pending', github_error: 'GitHub answered 502 to POST /check-runs' },
  })
  github.tokens.clear()
  world.clock.at += 10_000
  await sent.tried()
  world.clock.at += 60_000
  await sent.tried()
  expect(await world.run(id)).toMatchObject({ github: 'ok', github_error: null })
  expect([github.comments.size, github.checkRuns.size]).toEqual([1, 1])
  github.installations = [place(1, 'acme', [])]
  const gone = await find(opened, pull('synchronize'))
  await sent.tried()
  expect(await world.run(gone)).toMatchObject({
    ...{
      github: 'failed',
      github_error: expect.stringContaining('the credential needs the right to write checks'),
    },
  })
})

it('that a crash came between are written once, whatever was there by then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-github-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const first = await open({ dataFile: join(folder, 'svc.db') })
  const { github } = first
  const id = await find(first, pull('opened'))
  // Both are there, and the daemon ends before that is written down.
  await new Promise<void>((go) => {
    const worker = first.sent.start({
      settle: async () => {
        go()
        return fail('wrong_state', 'the daemon is gone')
      },
    })
    worker.nudge()
  })
  await first.world.close()
  expect([github.comments.size, github.checkRuns.size]).toEqual([1, 1])
  const second = await open({ dataFile: join(folder, 'svc.db'), before: first.world, github })
  onTestFinished(() => second.world.close())
  await second.sent.tried()
  expect(await second.world.run(id)).toMatchObject({ github: 'ok' })
  expect([github.comments.size, github.checkRuns.size]).toEqual([1, 1])
})

it('call nobody, command no bot, load nothing, and carry no secret', async () => {
  const opened = await open()
  const { world, github, sent } = opened
  onTestFinished(() => world.close())
  const summary =
    'Ask @acme/ops.\n/merge\n![x](https://evil.example/?q=1) <img src=https://evil.example> password=hunter2hunter2'
  await find(opened, pull('opened'), { finding: { summary, headline: '@all <b>look</b>' } })
  await sent.tried()
  const { body } = [...github.comments.values()][0]!
  expect(body).not.toMatch(/@(acme|all)|!\[|<img|<b>|^\/merge|hunter2/m)
  expect(body).toContain('acme/ops')
})
