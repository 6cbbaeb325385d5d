import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { dropReadsAhead, firstRead, readAhead } from '../../console/lib/first-reads.ts'

const ask = vi.fn(async (path: string) => new Response(path))

beforeEach(() => vi.stubGlobal('window', { svcPages: { ask } }))
afterEach(() => {
  dropReadsAhead()
  ask.mockClear()
  vi.unstubAllGlobals()
})

it('hands an answer that was asked ahead to who asks for it, once', async () => {
  readAhead('/api/incidents/1')
  readAhead('/api/incidents/1')
  expect(ask).toHaveBeenCalledTimes(1)
  expect(await (await firstRead('GET', '/api/incidents/1'))?.text()).toBe('/api/incidents/1')
  expect(firstRead('GET', '/api/incidents/1')).toBeUndefined()
})

it('forgets what was asked ahead once something is written: it may be what was there before', () => {
  readAhead('/api/incidents/1')
  dropReadsAhead()
  expect(firstRead('GET', '/api/incidents/1')).toBeUndefined()
})
