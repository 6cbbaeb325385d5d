import { describe, expect, it } from 'vitest'
import { demo, demoEvents, STREAMS } from '../../../../engine/sources/connectors/demo.ts'

const T0 = Date.parse('2026-11-20T12:00:00Z')
const world = {
  seed: 1,
  faults: [
    { service: 'payments', n: 1, from: T0 - 60_000, to: T0 - 10_000 },
    { service: 'cart', n: 1, from: T0 - 30_000, to: null },
  ],
}

describe('the generator of the demo', () => {
  it.each(STREAMS)(
    'gives the same events of %s for the same seed and time, in one piece or in many',
    (stream) => {
      const whole = demoEvents(world, stream, T0 - 600_000, T0)
      const pieces = []
      for (let at = T0 - 600_000; at < T0; at += 1_000)
        pieces.push(...demoEvents(world, stream, at, at + 1_000))
      expect(pieces).toEqual(whole)
      expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length)
      expect(whole.map(({ at }) => at)).toEqual(whole.map(({ at }) => at).toSorted())
    },
  )

  it('gives others for another seed', () => {
    const texts = (seed: number) =>
      demoEvents({ seed, faults: [] }, 'access_logs', T0 - 60_000, T0).map(({ text }) => text)
    expect(texts(2)).not.toEqual(texts(1))
  })

  it('has the change, then the errors, and none once it is mended', () => {
    const errors = demoEvents(world, 'app_logs', T0 - 90_000, T0 + 90_000)
      .filter(({ service, text }) => service === 'payments' && text.includes('504'))
      .map(({ at }) => Date.parse(at) - T0)
    const changes = demoEvents(world, 'deploys', T0 - 90_000, T0).filter(
      ({ service }) => service === 'payments',
    )
    expect(changes.map(({ at, text }) => [Date.parse(at) - T0, text])).toEqual([
      [-60_000, 'Config of payments: provider_timeout_ms from 2000 to 200, by jonas'],
      [-10_000, 'Config of payments: provider_timeout_ms set back to 2000, by jonas'],
    ])
    expect(errors[0]).toBe(-58_000)
    expect(errors.at(-1)).toBeLessThan(-10_000)
  })

  it('makes up 90 minutes after a pause of any length, and nothing where the demo is not loaded', async () => {
    const poll = (config: object, cursor: string | null) => demo.poll(config as never, cursor, {} as never)
    const config = { stream: 'metrics', world, now: T0 }
    const { items, cursor } = await poll(config, String(T0 - 86_400_000))
    expect(cursor).toBe(String(T0))
    expect(Date.parse(JSON.parse(items[0]!).at)).toBeGreaterThan(T0 - 91 * 60_000)
    expect(items.length).toBe((await poll(config, null)).items.length)
    expect((await poll(config, cursor)).items).toEqual([])
    expect(await poll({ stream: 'metrics', now: T0 }, '5')).toMatchObject({ items: [], cursor: '5' })
  })
})
