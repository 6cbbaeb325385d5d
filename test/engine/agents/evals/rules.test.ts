/** The scripted agent that goes by rote: all causes in 11 of 12 (issue 17, "It is done when" 1), and what it reads. */
import { describe, expect, it } from 'vitest'
import { loadedWith, type Pack, truthOf, ways } from '../../../../engine/agents/evals/incident.ts'
import { ownPack } from '../../../../engine/agents/evals/own-pack.ts'
import { namedByRules, readMessage, scriptedModels } from '../../../../engine/agents/evals/scripted.ts'
import type { ModelRequest } from '../../../../engine/agents/models/types.ts'

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
      named.some(({ ids }) => ids.some((id) => events.has(id)))
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

const textOf = (...lines: string[]): string =>
  ['for service=shop at 2026-03-02T00:10:00.000Z: x', '1 event; trouble since 23:50:00 UTC', ...lines].join(
    '\n',
  )
const message = (...lines: string[]) => readMessage(textOf(...lines))

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

  const idsNamed = (...lines: string[]) => namedByRules(message(...lines)).map(({ ids }) => ids)

  it('all events of a line are cited, and all lines of a change that is told in several', () => {
    expect(
      idsNamed(
        ...[
          '## Changes',
          'evt_1 23:54:00 gitops changed: --- shop.yaml',
          'evt_2 23:54:00 gitops changed: + tag: 2',
        ],
        ...['evt_3 21:50:00 gitops changed: + size: 1', '## New, risen or stopped', errors],
      )[0],
    ).toEqual(['evt_1', 'evt_2'])
    expect(
      idsNamed(
        '## Numbers that moved: usual (5 to 95 %) → now',
        'evt_3…evt_4 metrics p99: 40 (38–42) → 990 (peak 999) since 00:04:30, 9 samples',
      ),
    ).toEqual([['evt_3', 'evt_4']])
  })

  it('what a platform does in any case is no change, and what says that all is well no trouble', () => {
    expect(
      idsNamed(
        ...[
          '## Changes',
          'evt_1 23:54:50 k8s Pulled: Normal Pulled: image of shop',
          'evt_2 23:40:00 config set: price list 2',
        ],
        ...['## New, risen or stopped', errors],
        ...['evt_5…evt_8 23:54:00–00:09:00 logs info ×105 new: "GET /metrics HTTP/1.1" 200 OK'],
        ...['evt_6…evt_7 23:54:00–00:09:00 logs error ×90 new: {"status": "success", "error": null}'],
      )[0],
    ).toEqual(['evt_2'])
  })

  it('a call that says that it took long is trouble', () => {
    const lines = (took: string) => [
      '## New, risen or stopped',
      `evt_6…evt_7 23:54:00–00:09:00 logs info ×19 new: query completed in ${took} seconds`,
    ]
    expect(idsNamed(...lines('9.01'))).toEqual([['evt_6', 'evt_7']])
    expect(idsNamed(...lines('0.4'))).toEqual([])
  })

  it('a report that a threshold was passed weighs less than what moved before it', () => {
    const number = 'evt_3…evt_4 metrics free_storage_mb: 900 (880–910) → 9 (peak 1) since 23:48:00, 9 samples'
    expect(
      idsNamed(
        ...['## Changes', 'evt_1 23:54:00 rds notification: storage is critically low'],
        ...['## Numbers that moved: usual (5 to 95 %) → now', number, '## New, risen or stopped', errors],
      )[0],
    ).toEqual(['evt_3', 'evt_4'])
  })

  it('an error that says what ran out is named, unless the number of it moved before', () => {
    const killed = ['## Changes', 'evt_1 00:09:00 k8s PodStatus: Terminated Reason: OOMKilled']
    const title = '## Numbers that moved: usual (5 to 95 %) → now'
    const other = 'evt_3…evt_4 metrics p99_ms: 40 (38–42) → 990 (peak 999) since 00:00:00, 9 samples'
    const heap = 'evt_5…evt_6 metrics heap_used_mb: 300 (290–310) → 990 (peak 999) since 23:40:00, 9 samples'
    expect(idsNamed(...killed, title, other)[0]).toEqual(['evt_1'])
    expect(idsNamed(...killed, title, heap, other)[0]).toEqual(['evt_5', 'evt_6'])
  })

  it('a resource that is used up explains why requests take longer; a request that breaks goes before it', () => {
    const slow =
      'evt_1…evt_2 23:56:00 traces cart GET SLOWER: whole 5 → 300 ms, own 3 → 200 ms {service=cart}'
    const broken = 'evt_7…evt_8 23:56:00 logs error after cart a#1: a#2 STOPPED; breaks first here in 9 of 9'
    const cpu =
      'evt_3…evt_4 metrics cpu_percent: at first 2, 1 (0.5–2) → 99 (peak 99) since 23:57:00, 9 samples'
    const lines = (...requests: string[]) => [
      '## Requests that took another path',
      ...requests,
      '## Numbers that moved: usual (5 to 95 %) → now',
      cpu,
    ]
    expect(idsNamed(...lines(slow))[0]).toEqual(['evt_3', 'evt_4'])
    expect(idsNamed(...lines(broken, slow))[0]).toEqual(['evt_7', 'evt_8'])
  })

  it('a number that a report of what is wrong names goes before one that moved as much and that nobody speaks of', () => {
    const number = (id: number, name: string) =>
      `evt_${id}…evt_${id + 1} metrics ${name}: 40 (38–42) → 990 (peak 999) since 23:50:00, 9 samples`
    const lines = (text: string) => [
      ...['## Changes', `evt_1 23:58:00 cloud notification: ${text}`],
      '## Numbers that moved: usual (5 to 95 %) → now',
      ...[number(3, 'ReadThroughput'), number(5, 'WalGeneration')],
    ]
    expect(idsNamed(...lines('generation of write-ahead log exceeded its threshold'))[0]).toEqual([
      'evt_5',
      'evt_6',
    ])
    expect(idsNamed(...lines('an instance exceeded its threshold'))[0]).toEqual(['evt_3', 'evt_4'])
  })

  it('a silence that may be chance is named where nothing says trouble', () => {
    const silence =
      'evt_3…evt_4 22:10:00–23:42:00 logs info STOPPED: 0 in 15m, usual 8.9, last at 23:42:00: seats'
    const error = 'evt_5…evt_8 23:58:30–23:58:30 logs log ×4 new: all hosts tried for the query failed'
    const title = '## New, risen or stopped'
    expect(idsNamed(title, silence, error)[0]).toEqual(['evt_5', 'evt_8'])
    expect(idsNamed(title, silence)).toEqual([['evt_3', 'evt_4']])
    // An error that stopped is one, however few are missing.
    expect(idsNamed(title, silence.replace('info STOPPED', 'error STOPPED'), error)[0]).toEqual([
      'evt_3',
      'evt_4',
    ])
  })

  it('of trouble that comes again and again one of each kind is named, where there is nothing else', () => {
    const again = [
      ...['evt_1 23:50:00 k8s FailedScheduling: no node', 'evt_2 23:58:00 k8s FailedScheduling: no node'],
      ...['evt_3 23:59:00 k8s ProvisioningFailed: no disk', 'evt_4 23:59:30 k8s ProvisioningFailed: no disk'],
    ]
    const named = namedByRules(message('## Changes', ...again))
    expect(named.map(({ text }) => text.split(' ')[2])).toEqual(['FailedScheduling:', 'ProvisioningFailed:'])
    expect(
      idsNamed('## Changes', ...again, 'evt_5 23:49:00 config set: storage of shop').map(([id]) => id),
    ).toEqual(['evt_5'])
  })
})

it.each([
  ['logs error after cart a.b.Cart#12: pay c.Pay#3 STOPPED; breaks first here in 9 of 9', 'c.Pay#3'],
  ['logs info cart a.b.Cart#12 → c.Pay#3 (then pay) SLOWER: pause 7 → 26 ms', 'c.Pay#3'],
  ['traces cart HTTP POST (calls pay) SLOWER: whole 5 → 300 ms, own 3 → 200 ms', 'HTTP POST'],
  ['traces cart GET /orders SLOWER: whole 5 → 300 ms, own 3 → 200 ms', 'GET /orders'],
])('what is quoted of a request is a step that its events tell, and not an hour: %s', async (line, quote) => {
  const text = textOf('## Requests that took another path', `evt_7…evt_8 23:56:00 ${line}`)
  const request = { system: '', messages: [{ role: 'user', text }], tools: [] } as unknown as ModelRequest
  const { calls } = await scriptedModels('rules').call(request)
  expect(calls[0]!.arguments).toMatchObject({ claims: [{ events: ['evt_7', 'evt_8'], quote }] })
})
