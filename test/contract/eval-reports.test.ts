/** Reports of svc evals are published, listed, shown and deleted (issue 17, part 1: the page Evals). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EvalReport, EvalReportsResult } from '../../schemas/types.ts'
import { svc as command } from '../api/cli/cli-harness.ts'
import { clientOf, type Instance, ROOT, startInstance } from './instance.ts'

let svc: Instance
let url: string
beforeAll(async () => {
  svc = await startInstance({ secured: true })
  url = svc.url
})
afterAll(() => svc.stop())

const report = (more: object = {}): EvalReport => ({
  ...{ version: 1, at: '2026-11-20T11:00:00.000Z', release: '1.0.0', pack: 'mine', noise: [10] },
  ...{ spent_usd: 0, stopped: false, scenes: [], runs: [], measured: [] },
  ...more,
})
const list = async () => (await svc.get<EvalReportsResult>('/api/evals/reports')).reports

it('a report that was published is shown as it was, and can be deleted', async () => {
  const { id } = await svc.post<{ id: string }>('/api/evals/reports', report())
  expect(await list()).toMatchObject([{ id, pack: 'mine', runs: 0, bytes: expect.any(Number) }])
  expect(await svc.get(`/api/evals/reports/${id}`)).toEqual(report())
  expect((await svc.call('DELETE', `/api/evals/reports/${id}`)).status).toBe(200)
  expect(await list()).toEqual([])
  for (const method of ['GET', 'DELETE'])
    expect((await svc.call(method, `/api/evals/reports/${id}`)).status).toBe(404)
})

it('svc evals measure --publish hands its report in', async () => {
  const args = [
    'evals',
    'measure',
    '--noise',
    '0',
    '--budget',
    '500',
    '--publish',
    '--svcd',
    url,
    '--token',
    ROOT,
  ]
  const { code, err } = await command(args)
  expect([code, err]).toEqual([0, expect.stringMatching(/^published as eval_[0-9a-f]{16}; /)])
  expect((await list())[0]).toMatchObject({ pack: 'the pack of svc', runs: 0, measured: expect.any(Number) })
})

it('the newest 50 are kept', async () => {
  for (let i = 0; i < 52; i++) await svc.post('/api/evals/reports', report({ pack: `pack ${i}` }))
  const packs = (await list()).map(({ pack }) => pack)
  expect(packs).toHaveLength(50)
  expect([packs[0], packs[49]]).toEqual(['pack 51', 'pack 2'])
})

it('what is no report is refused with its field, and a key that reads hands none in', async () => {
  const [status, said] = await svc.refused('POST', '/api/evals/reports', { ...report(), runs: [{}] })
  expect([status, said]).toEqual([400, expect.stringContaining('runs')])
  const { secret: key } = await svc.post<{ secret: string }>('/api/keys', {
    name: 'reader',
    scopes: ['read'],
  })
  const reader = clientOf(url, key)
  expect((await reader.call('POST', '/api/evals/reports', report())).status).toBe(403)
  expect((await reader.call('GET', '/api/evals/reports')).status).toBe(200)
})
