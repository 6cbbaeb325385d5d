import { describe, expect, it } from 'vitest'
import { render, slug } from '../../../../engine/declared/projects/template-plan.ts'
import { checkParams, type Params, planTemplate } from '../../../../engine/declared/projects/templating.ts'

import { templateFrom, WATCH } from './template-folder.ts'

const roots = {
  text: 'shop',
  blank: '',
  number: 5,
  zero: 0,
  off: false,
  list: ['a', 'b'],
  none: [],
  rows: [{ id: 'x', tag: 'one' }, { id: 'y' }],
  map: { deep: { er: 1 } },
  Odd: 1,
}
const names = (key: string) => ({ one: ['first'], two: ['p', 'q'] })[key] ?? []
const rendered = (value: unknown) => render(value, { roots, names })

describe('an expression', () => {
  it.each([
    ['{{ number }}', 5],
    ['{{number}}', 5],
    ['{{ zero }}', 0],
    ['{{ off }}', false],
    ['{{ list }}', ['a', 'b']],
    ['{{ map }}', { deep: { er: 1 } }],
    ['{{ map.deep.er }}', 1],
    ['{{ rows.id }}', ['x', 'y']],
    ['{{ rows.tag }}', ['one']],
    ['{{ names("two") }}', ['p', 'q']],
    ['{{ name("two") }}', 'p'],
    ['{{ blank | default("x") }}', 'x'],
    ['{{ missing | default(7) }}', 7],
    ['{{ none | default(true) }}', true],
    ['{{ text | default("x") }}', 'shop'],
    ['{{ name("gone") | default("-") }}', '-'],
    ['{{ "{{" }}', '{{'],
  ])('%s alone keeps the type of its value', (text, value) => {
    expect(rendered({ field: text })).toEqual({ field: value })
  })

  it.each([
    ['> {{ number }}', '> 5'],
    ['{{ number }} ', '5 '],
    ['{{ text }}-{{ zero }}-{{ off }}', 'shop-0-false'],
    ['[{{ blank }}{{ missing }}{{ none }}]', '[]'],
    ['{{ list }} and {{ rows.id }}', 'a, b and x, y'],
    ['{{{ text }}}', '{shop}'],
    ['{plain} {{ "{{" }} }}', '{plain} {{ }}'],
    ['$& {{ text }}', '$& shop'],
  ])('%j within a text is text', (text, value) => {
    expect(rendered(text)).toBe(value)
  })

  it('alone and empty drops its field or entry, and leaves plain empty values as they are', () => {
    const spec = {
      a: '{{ blank }}',
      b: '{{ missing }}',
      c: '{{ none }}',
      d: '',
      e: [],
      f: null,
      g: ['{{ blank }}', 'x'],
    }
    expect(rendered(spec)).toEqual({ d: '', e: [], f: null, g: ['x'] })
  })

  it('reads own fields only', () => {
    expect(rendered(['{{ constructor }}', '{{ text.length }}', '{{ list.length }}'])).toEqual([])
  })

  it('cannot be brought in by a value', () => {
    const value = '{{ number }}", "evil": true'
    expect(
      render({ a: '{{ text }}', b: 'is {{ text }}' }, { roots: { text: value, number: 1 }, names }),
    ).toEqual({
      a: value,
      b: `is ${value}`,
    })
  })
})

describe('a slug', () => {
  it.each([
    ['Orders API', 'orders-api'],
    ['acme/shop.js', 'acme-shop-js'],
    ['--Ünïcode--', 'unicode'],
    ['', ''],
    ['  ', ''],
  ])('of %j is %j', (text, expected) => {
    expect(slug(text)).toBe(expected)
  })

  it('fits a name and tells long texts apart', () => {
    const [one, two] = ['a', 'b'].map((end) => slug(`a-very-long-name-of-a-repository-${end}`))
    expect(one).toMatch(/^[a-z0-9-]{1,24}$/)
    expect(one).not.toBe(two)
  })

  it('of letters it does not know is a name too, the same each time', () => {
    expect(slug('注文')).toMatch(/^[0-9a-f]{8}$/)
    expect(slug('注文')).toBe(slug('注文'))
    expect(slug('注文')).not.toBe(slug('支払'))
  })
})

/** A template with one object for each entry of a list. */
const many = (keyBy: string) =>
  templateFrom(`key: watch
title: Watch
description: One source for each entry.
params:
  type: object
  required: [rows]
  properties:
    rows:
      type: array
      items:
        type: object
        required: [id]
        properties: { id: { type: string }, on: { type: boolean } }
      examples: [[{ id: One, on: true }, { id: Two, on: true }]]
objects:
  - kind: source
    key: feed
    name: 'feed-{{ slug(item.id) }}'
    for_each: rows
    ${keyBy}
    spec: { connector: webhook, config: { event_type: 'e{{ index }}' } }
  - kind: trigger
    key: busy
    name: 'busy-{{ slug(item.id) }}'
    for_each: rows
    ${keyBy}
    when: item.on
    spec:
      sources: '{{ names("feed") }}'
      condition: { aggregate: count, predicate: '> 1', window: 5m }
  - kind: agent
    key: each
    name: 'each-{{ slug(item.id) }}'
    for_each: rows
    ${keyBy}
    spec: { prompt: Look., verdicts: [{ verdict: dig }] }
  - { kind: agent, key: all, name: all, spec: { prompt: Look. } }
wakes:
  - { trigger: busy, agent: each, enabled: true }
  - { trigger: busy, agent: all }
handoffs:
  - { agent: each, verdict: dig, to: all, cooldown: 1h }
`)

describe('a plan', () => {
  const file = many('key_by: item.id')
  const rows = [
    { id: 'One', on: true },
    { id: 'Two', on: true },
  ]
  const keys = (params: Params, from = file) =>
    planTemplate(from, params).objects.map(({ key, name }) => `${key} ${name}`)

  it('has an object for each entry, its key by the stated field', () => {
    expect(keys({ rows })).toEqual([
      'feed_one feed-one',
      'feed_two feed-two',
      'busy_one busy-one',
      'busy_two busy-two',
      'each_one each-one',
      'each_two each-two',
      'all all',
    ])
  })

  it('gives an entry the same key in another order', () => {
    expect(keys({ rows: rows.toReversed() }).sort()).toEqual(keys({ rows }).sort())
  })

  it('counts the entries where no field is stated', () => {
    expect(keys({ rows }, many('key_by: index')).slice(0, 2)).toEqual(['feed_0 feed-one', 'feed_1 feed-two'])
  })

  it('offers the place in the list as index', () => {
    expect(planTemplate(file, { rows }).objects[1]!.spec.config).toEqual({ event_type: 'e1' })
  })

  it('wires objects of one list entry by entry, and others each with each, by real names', () => {
    const { wakes, handoffs } = planTemplate(file, { rows })
    expect(wakes).toEqual([
      { trigger: 'busy-one', agent: 'each-one', enabled: true },
      { trigger: 'busy-two', agent: 'each-two', enabled: true },
      { trigger: 'busy-one', agent: 'all', enabled: false },
      { trigger: 'busy-two', agent: 'all', enabled: false },
    ])
    expect(handoffs).toEqual([
      { agent: 'each-one', verdict: 'dig', to: 'all', cooldown: '1h' },
      { agent: 'each-two', verdict: 'dig', to: 'all', cooldown: '1h' },
    ])
  })

  it('leaves an object out where its condition does not hold, and its wiring with it', () => {
    const plan = planTemplate(file, { rows: [rows[0]!, { id: 'Two', on: false }] })
    expect(plan.objects.map(({ key }) => key)).not.toContain('busy_two')
    expect(plan.objects.find(({ key }) => key === 'busy_one')!.spec.sources).toEqual(['feed-one', 'feed-two'])
    expect(plan.wakes.map(({ agent }) => agent)).toEqual(['each-one', 'all'])
  })

  it('refuses entries that would be the same object', () => {
    expect(() => planTemplate(file, { rows: [{ id: 'a.b' }, { id: 'a b' }] })).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: 'params.rows gives two objects the key feed_a-b; entries must differ in item.id',
        extra: { field: 'params.rows' },
      }),
    )
  })

  it('is the same for the same parameters', () => {
    const watch = templateFrom(WATCH)
    const params = checkParams(watch, { system: 'Shop', token: 't' })
    const before = structuredClone(params)
    expect(planTemplate(watch, params)).toEqual(planTemplate(watch, params))
    expect(params).toEqual(before)
    expect(planTemplate(watch, params).handoffs).toEqual([
      { agent: 'shop-first', verdict: 'dig', to: 'shop-second', cooldown: '30m' },
    ])
  })
})

describe('a condition on an object', () => {
  const file = templateFrom(`key: watch
title: Watch
description: Conditions.
params:
  type: object
  properties:
    mode: { type: string, enum: [fast, slow], default: fast }
    url: { type: string, examples: [x] }
    strict: { type: boolean }
objects:
  - { kind: agent, key: fast, name: fast, when: mode=fast, spec: { prompt: A. } }
  - { kind: agent, key: has_url, name: has_url, when: url, spec: { prompt: A. } }
  - { kind: agent, key: no_url, name: no_url, when: url=, spec: { prompt: A. } }
  - { kind: agent, key: strict, name: strict, when: strict, spec: { prompt: A. } }
  - { kind: agent, key: lax, name: lax, when: strict=false, spec: { prompt: A. } }
`)
  it.each<[Params, string[]]>([
    [{ mode: 'fast' }, ['fast', 'no_url']],
    [{ mode: 'slow', url: 'u' }, ['has_url']],
    [{ mode: 'slow', strict: true }, ['no_url', 'strict']],
    [{ mode: 'slow', strict: false }, ['no_url', 'lax']],
  ])('with %j plans %j', (params, expected) => {
    expect(planTemplate(file, params).objects.map(({ key }) => key)).toEqual(expected)
  })
})
