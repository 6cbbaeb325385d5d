/** What a key of a project sees of it is a card; the client commands tell that, too. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { answer, type Stub, startStub, svc } from './cli-harness.ts'

const CARD = {
  ...{ id: 'uc_0123456789', template: 'custom', name: 'Shop', goal: 'sell', status: 'active' },
  ...{ created_at: '2026-11-20T12:00:00.000Z', sources: ['gw'], triggers: ['errs'], skills: ['look'] },
}

let stub: Stub
beforeEach(async () => {
  stub = await startStub(({ url }, response) =>
    answer(response, 200, url === '/api/projects' ? { projects: [CARD] } : CARD),
  )
})
afterEach(() => stub.close())

it('svc projects lists it with how many parts it has', async () => {
  const { code, out, err } = await svc(['projects', '--svcd', stub.url])
  expect([code, err]).toEqual([0, ''])
  expect(out.split('\n')[1]).toMatch(/^uc_0123456789 +Shop +custom +active +3 +sell$/)
})

it('svc projects show tells its sources, triggers and skills', async () => {
  const { code, out } = await svc(['projects', 'show', 'Shop', '--svcd', stub.url])
  expect(code).toBe(0)
  expect(out).toBe('Shop  uc_0123456789  custom  active\nsell\n  source gw\n  trigger errs\n  skill look\n')
})
