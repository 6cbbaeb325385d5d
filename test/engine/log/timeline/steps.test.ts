/** 15 B6: text search, stats and histograms give way to other reads, and answer as of when they began. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPlaces, fewAtOnce } from '../../../../engine/log/steps.ts'
import { NOW, openSplit, type Split } from '../../threads/split.ts'

const BY = { caller: { id: 'key:1', name: 'maria' }, origin: 'api' as const }
/** More than a segment of the index, and many times what a text search looks at in one go. */
const BODIES = 9
const ITEMS = 8_000

let svc: Split
let ingestKey = ''

beforeAll(async () => {
  svc = openSplit()
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const made = await svc.engine.createSource(
    { name: 'app', connector: 'webhook', config: { labels } },
    BY,
    false,
  )
  ingestKey = made.ingest_key!
  for (let i = 0; i < BODIES; i++) await send(ITEMS)
})
afterAll(() => svc.close())

const send = (n: number) =>
  svc.engine.ingest({
    ingestKey,
    body: Buffer.from(
      JSON.stringify(Array.from({ length: n }, () => ({ service: 'pay', text: 'it broke' }))),
    ),
    bypassCooldown: false,
    caller: 'key:1',
  })

const to = new Date(NOW).toISOString()
const CASES: [name: string, ...args: unknown[]][] = [
  ['read', { selector: { service: 'pay' }, text: 'nowhere' }],
  ['stats', { by: 'service' }],
  ['statsFor', [], { by: 'service' }, NOW],
  ['histogram', { selector: { service: 'pay' }, from: new Date(NOW - 60_000).toISOString(), to }],
]

describe('a wide read', () => {
  it.each(CASES)(
    '%s gives way to a short one, and answers what it would have at once',
    async (name, ...args) => {
      const { reader, engine } = svc
      const atOnce = await (engine as unknown as Split['calls'])[name]!(...args)
      const order: string[] = []
      const wide = reader[name]!(...args).finally(() => order.push('wide'))
      await reader.event!('evt_1').finally(() => order.push('short'))
      expect(order).toEqual(['short'])
      // What is stored meanwhile is not of it.
      await send(1)
      expect(await wide).toEqual(atOnce)
    },
  )
})

it('who leaves the line has no turn, and holds up nobody behind', async () => {
  const inOrder = fewAtOnce(1)
  const begun: number[] = []
  const leavers = [0, 1, 2, 3].map(() => new AbortController())
  let end = () => {}
  const asked = leavers.map(({ signal }, n) =>
    inOrder(async () => {
      begun.push(n)
      if (n === 0) await new Promise<void>((resolve) => (end = resolve))
    }, signal),
  )
  const settled = Promise.allSettled(asked)
  leavers[1]!.abort('left')
  await expect(asked[1]).rejects.toBe('left')
  // Whoever is at work goes on, and so does the line, also where one leaves in the moment of its turn.
  leavers[0]!.abort('left')
  end()
  await asked[0]
  leavers[2]!.abort('left')
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ])
  expect(begun).toEqual([0, 3])
  await expect(inOrder(async () => 1, AbortSignal.abort('gone'))).rejects.toBe('gone')
})

it('places are had all at once, in order, by as many as there is room for', async () => {
  const take = createPlaces(3)
  const had: string[] = []
  const ask = async (name: string, count: number, signal?: AbortSignal) => {
    const leave = await take(count, signal)
    had.push(name)
    return leave
  }
  const first = await ask('two', 2)
  const left = new AbortController()
  const gone = ask('two, who goes', 2, left.signal)
  const all = ask('all there are, asking for more', 7)
  const last = ask('one', 1)
  left.abort('gone')
  await expect(gone).rejects.toBe('gone')
  first()
  first()
  const second = await all
  expect(had).toEqual(['two', 'all there are, asking for more'])
  second()
  const third = await last
  await ask('two more', 2)
  third()
  expect(had.slice(2)).toEqual(['one', 'two more'])
})

it('few are at work at the same time, the others in order, whatever came of those before', async () => {
  const inOrder = fewAtOnce(2)
  const begun: number[] = []
  const ends: ((how: 'answer' | 'fail') => void)[] = []
  const asked = [0, 1, 2, 3].map((n) =>
    inOrder(() => {
      begun.push(n)
      return new Promise<number>((resolve, reject) => {
        ends[n] = (how) => (how === 'answer' ? resolve(n) : reject(new Error(`no ${n}`)))
      })
    }),
  )
  const settled = Promise.allSettled(asked)
  await expect.poll(() => begun).toEqual([0, 1])
  ends[1]!('fail')
  await expect.poll(() => begun).toEqual([0, 1, 2])
  ends[0]!('answer')
  await expect.poll(() => begun).toEqual([0, 1, 2, 3])
  ends[2]!('answer')
  ends[3]!('answer')
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
})
