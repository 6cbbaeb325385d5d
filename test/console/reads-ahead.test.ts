import { expect, it } from 'vitest'
import { ReadsAhead } from '../../console/lib/reads-ahead.ts'

function world() {
  const asked: string[] = []
  const clock = { now: 0 }
  const reads = new ReadsAhead(
    async (path) => {
      asked.push(path)
      return new Response(path)
    },
    () => clock.now,
  )
  return { asked, clock, reads }
}

it('hands an answer that was asked ahead to who asks for it, once', async () => {
  const { asked, reads } = world()
  reads.begin('/api/incidents/1')
  reads.begin('/api/incidents/1')
  expect(asked).toEqual(['/api/incidents/1'])
  expect(await (await reads.take('/api/incidents/1'))?.text()).toBe('/api/incidents/1')
  expect(reads.take('/api/incidents/1')).toBeUndefined()
})

it('forgets it after 5 s, and once something is written: it may be what was there before', () => {
  const { clock, reads } = world()
  reads.begin('/api/incidents/1')
  clock.now = 5_001
  expect(reads.take('/api/incidents/1')).toBeUndefined()
  reads.begin('/api/incidents/1')
  reads.drop()
  expect(reads.take('/api/incidents/1')).toBeUndefined()
})

it('asks for four at most at a time', () => {
  const { asked, reads } = world()
  for (const n of [1, 2, 3, 4, 5]) reads.begin(`/api/incidents/${n}`)
  expect(asked).toHaveLength(4)
})
