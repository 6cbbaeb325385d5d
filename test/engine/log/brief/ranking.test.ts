/** Rules by which the brief ranks what moved: each decides the order of something, and is seen to (issue 17, part 2.1). */
import { describe, expect, it } from 'vitest'
import type { Timed } from '../../../../engine/log/brief/brief.ts'
import { type Group, type Item, liftAround, rankItems } from '../../../../engine/log/brief/groups.ts'
import { Kinds, rankChanges } from '../../../../engine/log/brief/lines.ts'
import type { Paths } from '../../../../engine/log/brief/paths.ts'
import type { Kind } from '../../../../engine/log/brief/types.ts'
import { briefOf, every, ordinary, partOf, row } from './hand-made.ts'

const NO_PATHS: Paths = { requests: 0, findings: [], entities: new Map() }

const timed = (t: number, text: string, kind: Kind, entity = 'checkout'): Timed => ({
  row: row(t, text, { source: kind.source, type: kind.type, entity }),
  ...{ t, kind, stream: null, cls: null },
})

const group = (entity: string, score: number, more: Partial<Group> = {}): Group => {
  const last = timed(-60, `failed in ${entity}`, { source: 'logs', type: 'error', count: 1 }, entity)
  return {
    ...{ source: 'logs', type: 'error', entity, score, moved: true, stopped: false, began: null, last },
    template: { n: entity.length + score, words: [] },
    ...more,
  } as Group
}

const entitiesOf = (items: readonly Item[]): string[] => items.map(({ entity }) => entity)

describe('what moved', () => {
  it('of the entity itself goes before as much of another', () => {
    expect(entitiesOf(rankItems([group('mail', 2), group('shop', 1)], [], 'shop', NO_PATHS))).toEqual([
      'shop',
      'mail',
    ])
  })

  it('of whom requests speak against is lifted, the first of them most', () => {
    const paths: Paths = {
      ...NO_PATHS,
      entities: new Map([
        ['db', 6],
        ['cart', 6],
        ['mail', 2],
      ]),
    }
    const groups = [group('mail', 1.2), group('cart', 1.1), group('db', 1)]
    const items = rankItems(groups, [], 'shop', paths)
    expect(items.map(({ entity, score }) => [entity, +score.toFixed(2)])).toEqual([
      ['db', 2.5],
      ['cart', 2.15],
      ['mail', 1.2],
    ])
  })

  it('and is a step that stopped counts for less, where requests go on without missing it', () => {
    const text = 'trace_id=0123456789abcdef Cart.java:88 priced it'
    const last = timed(-600, text, { source: 'logs', type: 'info', count: 9 }, 'cart')
    const stopped = group('cart', 3, { stopped: true, last })
    const plain = group('mail', 2.5)
    const rank = (requests: number) =>
      entitiesOf(rankItems([{ ...stopped }, { ...plain }], [], 'shop', { ...NO_PATHS, requests }))
    expect(rank(19)).toEqual(['cart', 'mail'])
    expect(rank(20)).toEqual(['mail', 'cart'])
  })

  it('and began with the trouble, or is of who is near, goes before what did not', () => {
    const item = (entity: string, began: number | null): Item => ({
      ...{ entity, began, score: 2, group: null, series: null, alsoIn: 0 },
    })
    const items = [item('earlier', -900), item('later', -170), item('with', -650), item('near', null)]
    liftAround(items, new Set(['near']), -600)
    expect(items.map(({ entity, score }) => [entity, score])).toEqual([
      ['near', 3],
      ['with', 2.7],
      ['earlier', 2],
      ['later', 2],
    ])
  })
})

describe('changes', () => {
  const around = {
    entity: 'checkout',
    near: new Set<string>(),
    onset: -600,
    words: new Set<string>(),
    focus: 900,
  }
  const ranked = (lines: Timed[]) =>
    rankChanges(lines, new Kinds([...new Set(lines.map(({ kind }) => kind))], new Set()), around).map(
      ({ line }) => line.row.text,
    )

  it('that a platform makes of every pod go behind what people did', () => {
    const started = timed(-620, 'pod/shop Normal Started container', { source: 'k8s', type: 'pod', count: 1 })
    const deployed = timed(-1_500, 'deployed v2', { source: 'deploys', type: 'deployed', count: 1 })
    expect(ranked([deployed, started])).toEqual(['deployed v2', 'pod/shop Normal Started container'])
  })

  it('that are rare kinds of a source of log lines go behind others', () => {
    const lines = { source: 'logs', type: 'info', count: 50 }
    const rare = timed(-620, 'set of rules was read', { source: 'logs', type: 'rules', count: 1 })
    const set = timed(-1_500, 'limit set to 5', { source: 'config', type: 'parameter_set', count: 1 })
    expect(ranked([set, rare, timed(-60, 'served', lines)])).toEqual([
      'limit set to 5',
      'set of rules was read',
    ])
  })

  it('are none where they are what fired', () => {
    const page = row(-1, 'firing: checkout page', { id: 'evt_900', source: 'alerts', type: 'page' })
    expect(partOf(briefOf([...ordinary(), page]), 'changes')).toHaveLength(1)
    expect(partOf(briefOf([...ordinary(), page], { fired: ['evt_900'] }), 'changes')).toEqual([])
  })

  it('of who is named by the trouble, or shares a name with the entity, are shown long before it', () => {
    const deployed = (entity: string) =>
      row(-9_000, `deployed ${entity} v3`, { source: 'deploys', type: 'deployed', entity })
    const errors = every(-600, -1, 80, () => 'tax answered 503', { type: 'error' })
    const others = ['tax', 'checkout-db', 'mail', 'tax2'].map(deployed)
    const changes = partOf(briefOf([...ordinary(), ...errors, ...others]), 'changes').join('\n')
    expect(changes).toContain('deployed tax v3')
    expect(changes).toContain('deployed checkout-db v3')
    expect(changes).not.toContain('mail')
    expect(changes).not.toContain('tax2')
  })
})

describe('lines', () => {
  const linesOf = (rows: ReturnType<typeof ordinary>) => partOf(briefOf([...ordinary(), ...rows]), 'lines')

  it('that come in bursts have not risen by one burst more', () => {
    const bursts = Array.from({ length: 18 }, (_, k) =>
      every(-10_780 + k * 620, -10_760 + k * 620, 40, (i) => `batch ${i} was written`),
    )
    expect(linesOf(bursts.flat()).join()).not.toContain('was written')
  })

  it('that are errors of a young pod are new, since its entity wrote none before', () => {
    const errors = every(-400, -1, 60, () => 'no library libssl.so.3', {
      ...{ type: 'error', labels: { pod: 'checkout-2' } },
    })
    expect(linesOf(errors).join()).toMatch(/error ×60 new: no library/)
  })

  it('that rose within a minute or two are seen, though a quarter of an hour has as many as before', () => {
    const before = every(-10_800, -150, 700, (i) => `retry ${i}`, { type: 'warn' })
    const now = every(-55, -1, 30, (i) => `retry ${i}`, { type: 'warn' })
    expect(linesOf([...before, ...now]).join()).toMatch(/warn ×\d+ in 1m, usual /)
  })

  it('of two places in code are two lines, though but for the number they are the same', () => {
    const at = (place: string) =>
      every(-500, -1, 60, () => `${place} gave up on the order`, { type: 'error' })
    const told = linesOf([...at('Cart#88'), ...at('Cart#12')])
    expect(told.filter((line) => line.includes('gave up'))).toHaveLength(2)
  })
})
