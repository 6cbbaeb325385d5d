/** The replay over a real server and on the command line: who may, what is refused, how it reads. */
import { expect, it } from 'vitest'
import type { Replay } from '../../../schemas/types.ts'
import { clientOf } from '../../contract/instance.ts'
import { conclude, serveRuns } from '../../contract/served-runs.ts'
import { svc } from './cli-harness.ts'

async function served(secured = false) {
  const { world, url, svc: api } = await serveRuns({ secured })
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
  world.models.reply('m1', () => conclude({ headline: 'Gateway\u001b[2J down' }))
  world.clock.at += 1_000
  await world.post({ service: 'checkout', type: 'error', msg: 'cannot pay' })
  const [run] = await world.settled()
  return { world, url, api, run: run! }
}

const path = (project: string, query: Record<string, string>) =>
  `/api/projects/${project}/replay?${new URLSearchParams(query)}`

it('reads as a log, by a result or by a range', async () => {
  const { world, url, run } = await served()
  const at = new Date(world.clock.at).toISOString()
  const ran = await svc(['replay', 'Shop', '--result', run.id, '--svcd', url])
  expect(ran.code).toBe(0)
  const lines = ran.out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/\s{2,}/))
  expect(lines[0]).toEqual(['Shop', `${at} to ${at}`])
  expect(lines.slice(1).map(([, ...rest]) => rest)).toEqual([
    ['event error', 'app: cannot pay'],
    ['firing fired', 't fired for checkout: an event of type error (1 event)'],
    ['delivery running', 't tells agent first-look'],
    ['run queued', 'first-look is woken by t for checkout'],
    ['run running', 'first-look begins'],
    ['step prompt', 'first-look: received the timeline: 1 event, 11 tools offered'],
    ['step model', 'first-look: model call 1 of m1: 10 tokens in, 5 tokens out, $0.0006, asks for conclude'],
    ['step conclude', 'first-look: concluded'],
    ['run succeeded', String.raw`first-look ended: succeeded, Gateway\u001b[2J down ($0.0006)`],
    ['delivery delivered', 'what was told to agent first-look is done'],
    ['finding finding', String.raw`first-look found of checkout: Gateway\u001b[2J down`],
  ])
  const part = await svc([
    'replay',
    'Shop',
    '--from',
    '2026-11-20T12:00:00Z',
    '--to',
    at,
    '--limit',
    '1',
    '--svcd',
    url,
  ])
  expect(part.err).toContain('there is more; --from 2026-11-20T12:00:00.001Z goes on with it')
  const json = await svc(['replay', 'Shop', '--result', run.id, '--json', '--svcd', url])
  expect((JSON.parse(json.out) as Replay).moments).toHaveLength(11)
  expect(await svc(['replay', 'Shop', '--from', at, '--svcd', url])).toMatchObject({
    code: 64,
    err: expect.stringContaining('give --result, or --from and --to') as unknown as string,
  })
})

it('is for who reads the project, a key of it included, and refuses with the field and the rule', async () => {
  const { world, url, api, run } = await served(true)
  const { id: other } = await api.post<{ id: string }>('/api/projects', {
    template: 'custom',
    name: 'Other',
    objects: [],
  })
  const { secret } = await api.post<{ secret: string }>(`/api/projects/${world.project}/keys`, {
    name: 'reader',
    scopes: ['read'],
  })
  const key = clientOf(url, secret)
  const own = await key.get<Replay>(path(world.project, { result: run.id }))
  expect(own.result).toBe(run.id)
  // As elsewhere, such a key learns nobody's name.
  expect(own.versions.map(({ by, summary }) => [by, summary])).toEqual(own.versions.map(() => [null, '']))
  const whole = await api.get<Replay>(path(world.project, { result: run.id }))
  expect(whole.versions.at(-1)!.summary).toBe('project Shop: wiring')
  expect(own.moments).toHaveLength(whole.moments.length)
  expect((await key.call('GET', path(other, { result: run.id }))).status).toBe(403)
  expect((await clientOf(url, null).call('GET', path(world.project, { result: run.id }))).status).toBe(401)
  const range = { from: '2026-11-20T12:00:00Z', to: '2026-11-20T13:00:00Z' }
  for (const [query, status, message] of [
    [{ result: 'run_none' }, 404, 'no run of the project has the id run_none'],
    [{ from: range.from }, 400, 'to is required'],
    [{ ...range, from: 'noon' }, 400, 'from must be an ISO 8601 time'],
    [{ ...range, limit: '0' }, 400, 'limit'],
  ] as const) {
    const [got, why] = await api.refused('GET', path(world.project, query as Record<string, string>))
    expect([got, why]).toEqual([status, expect.stringContaining(message)])
  }
  expect((await api.refused('GET', path('uc_none', range)))[0]).toBe(404)
  expect((await api.refused('GET', path(other, { result: run.id })))[0]).toBe(404)
})
