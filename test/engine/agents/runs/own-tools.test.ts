/** What the tool `read` of agents and of Ask says of what it does not show. */
import { expect, it } from 'vitest'
import { type ReadPort, read } from '../../../../engine/agents/runs/own-tools.ts'
import { answerRead } from '../../../../engine/log/timeline/read.ts'
import { addSource, event, openHarness, T0 } from '../../log/store/store-harness.ts'

const NOW = T0 + 3_600_000

function portOver(scanMax: number): ReadPort {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [{ name: 'service', field: 'service', primary: true }])
  harness.append(
    Array.from({ length: 50 }, (_, i) =>
      event({ service: 'shop' }, T0 + i * 1_000, { text: i === 3 || i === 45 ? 'declined' : 'fine' }),
    ),
    { sourceId: app },
  )
  return {
    readFor: async (_projects, request) => answerRead(harness.ctx, request, NOW, scanMax),
    statsFor: () => Promise.reject(new Error('not asked')),
  }
}

it('A12: an agent is told where its search stopped, and finds the rest by reading on from there', async () => {
  const run = { projects: [], asOf: NOW, marker: 'm' }
  const port = portOver(20)
  const ask = { selector: { service: 'shop' }, window: '2h', text: 'declined' }
  const first = await read(run, port, ask)
  expect(first.text).toContain(
    '1 rows; the search looked at 20 events, back to 2026-11-20T12:00:30.000Z, and stopped there: read again with to 2026-11-20T12:00:30.000Z to search further back',
  )
  const second = await read(run, port, { ...ask, to: '2026-11-20T12:00:30.000Z' })
  expect(second.text).toContain('back to 2026-11-20T12:00:11.000Z')
  const third = await read(run, port, { ...ask, to: '2026-11-20T12:00:11.000Z' })
  expect(third.text).not.toContain('the search')
  expect(first.shown.concat(second.shown, third.shown).map(([id]) => id)).toEqual(['evt_46', 'evt_4'])
})
