/** The scripted agent that goes by rote: all causes in 11 of 12 (issue 17, "It is done when" 1), and what it reads. */
import { describe, expect, it } from 'vitest'
import { loadedWith, type Pack, truthOf, ways } from '../../../../engine/agents/evals/incident.ts'
import { ownPack } from '../../../../engine/agents/evals/own-pack.ts'
import { namedByRules, readMessage } from '../../../../engine/agents/evals/scripted.ts'

/** Scenarios of which not every cause is named. */
function notNamed(pack: Pack, noise: number): { causes: number; missed: string[] } {
  const missed: string[] = []
  let causes = 0
  for (const { id, load } of pack.incidents) {
    const incident = load()
    const loaded = loadedWith(incident, pack.noise, noise)
    const truth = truthOf(loaded, incident.truth)
    if (truth.causes.length === 0) continue
    causes++
    const head = `for service=${loaded.entity} at ${incident.truth.fired_at}: firing`
    const named = namedByRules(readMessage(`${head}\n${ways.brief(loaded, 6_000)}`))
    const isNamed = ({ events }: { events: ReadonlySet<string> }) =>
      named.some(({ ids }) => events.has(ids.at(-1)!))
    if (!truth.causes.every(isNamed)) missed.push(id)
  }
  return { causes, missed }
}

describe('the rules name all causes of eleven of twelve scenarios', () => {
  it.each([
    [undefined, 100],
    [undefined, 5_000],
    ['other names', 2_000],
  ])('of the pack with seed %s among %d events', (seed, noise) => {
    const { causes, missed } = notNamed(ownPack(seed), noise)
    expect(causes).toBe(32)
    expect(missed.length, missed.join()).toBeLessThanOrEqual(causes / 12)
  })
})

const message = (...lines: string[]) =>
  readMessage(
    ['for service=shop at 2026-03-02T00:10:00.000Z: x', '1 event; trouble since 23:50:00 UTC', ...lines].join(
      '\n',
    ),
  )

it('times are read as minutes from the firing, over midnight and of other days', () => {
  const { onset, lines } = message(
    '## Changes',
    'evt_1 23:40:00 deploys deployed: v1',
    'evt_2 03-01 00:10 deploys deployed: v0',
    '## Numbers that moved: usual (5 to 95 %) → now',
    'evt_3…evt_4 metrics heap_mb: 300 (290–310) → 990 (peak 999) since 03-01 00:10, 9 samples',
    'evt_5…evt_6 metrics p99: 40 (38–42) → 990 (peak 999) since 00:04:30, 9 samples',
  )
  expect(onset).toBe(-20)
  expect(lines.map(({ at, since }) => at ?? since)).toEqual([-30, null, -1_440, -5.5])
})

describe('by rote', () => {
  const errors = 'evt_9…evt_30 23:55:00–00:09:00 logs error ×20 new: price list missing'

  it('a change shortly before what is wrong goes before one that came after it', () => {
    const named = namedByRules(
      message(
        ...['## Changes', 'evt_1 23:54:00 deploys deployed: shop v2'],
        ...['evt_2 00:08:00 config set: sampling of shop', '## New, risen or stopped', errors],
      ),
    )
    expect(named.map(({ ids }) => ids[0])).toEqual(['evt_1'])
  })

  it('without a change the number that moved first is named', () => {
    const named = namedByRules(
      message(
        '## Numbers that moved: usual (5 to 95 %) → now',
        'evt_3…evt_4 metrics p99: 40 (38–42) → 990 (peak 999) since 00:04:30, 9 samples',
        'evt_5…evt_6 metrics requests: 40 (38–42) → 790 (peak 999) since 23:50:00, 9 samples',
      ),
    )
    expect(named.map(({ ids }) => ids[0])).toEqual(['evt_5'])
  })
})
