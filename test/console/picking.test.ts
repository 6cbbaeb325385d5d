import { describe, expect, it } from 'vitest'
import {
  carryingOf,
  matching,
  offerOf,
  sampledOf,
  sampleText,
  toggled,
  valuesText,
  withAll,
} from '../../console/forms/discovery/picking.ts'

describe('a choice of metrics', () => {
  it('is offered by answers with a catalog of metrics, and by no other', () => {
    const catalog = { metrics: ['a', 'b'], labels: ['job'] }
    expect(offerOf({ catalog, truncated: true, selected_max: 3, proposed_config: {} })).toEqual({
      ...catalog,
      most: 3,
      isCut: true,
    })
    expect(offerOf({ catalog: { metrics: [] } })).toEqual({ metrics: [], labels: [], most: 40, isCut: false })
    for (const other of [{}, { catalog: null }, { catalog: { tables: ['t'] } }, { catalog: 'text' }])
      expect(offerOf(other)).toBeNull()
  })

  it('is searched by words in any order and case', () => {
    const names = ['http_requests_total', 'http_errors_total', 'Queue_depth']
    expect(matching(names, '')).toEqual(names)
    expect(matching(names, '  ')).toEqual(names)
    expect(matching(names, 'TOTAL req')).toEqual(['http_requests_total'])
    expect(matching(names, 'queue')).toEqual(['Queue_depth'])
    expect(matching(names, 'queue total')).toEqual([])
  })

  it('takes in no more than the limit, and lets go of what is in', () => {
    const full = new Set(['a', 'b'])
    expect([...toggled(full, 'c', 2)]).toEqual(['a', 'b'])
    expect([...toggled(full, 'a', 2)]).toEqual(['b'])
    expect([...toggled(full, 'c', 3)]).toEqual(['a', 'b', 'c'])
    expect([...full]).toEqual(['a', 'b'])
  })

  it('takes in all of a list only where it fits and is news', () => {
    const chosen = new Set(['a'])
    expect(withAll(chosen, ['a', 'b'], 2)).toEqual(new Set(['a', 'b']))
    expect(withAll(chosen, ['b', 'c'], 2)).toBeNull()
    expect(withAll(chosen, ['a'], 2)).toBeNull()
    expect(withAll(chosen, [], 2)).toBeNull()
  })
})

describe('what was sampled', () => {
  const choices = [{ name: 'service', cardinality: 9, values_preview: ['cart', 'pay'] }]

  it('is read from its answer, and from one in which no label tells the entity', () => {
    const preview = [{ name: 'up', type: 'gauge', sample: 1, labels: {} }]
    const answer = { preview, key: 'zone', suggested_key: { name: 'service' }, key_choices: choices }
    expect(sampledOf({ ...answer, proposed_config: { url: 'u' } })).toEqual({
      metrics: preview,
      key: 'zone',
      suggested: 'service',
      choices,
      proposed: { url: 'u' },
    })
    expect(sampledOf({ preview, key: null, suggested_key: null })).toMatchObject({
      key: null,
      suggested: null,
      choices: [],
    })
  })

  it('is said in words', () => {
    expect(valuesText(choices[0]!)).toBe('9 values: cart, pay, …')
    expect(valuesText({ name: 'a', cardinality: 1, values_preview: ['x'] })).toBe('1 value: x')
    expect(sampleText(null)).toBe('no value now')
    expect(sampleText(0.1 + 0.2)).toBe('0.3')
    expect(sampleText(1234567)).toBe('1,234,567')
  })

  it('of a label is the list of metrics that carry it', () => {
    expect(carryingOf({ metrics_for_label: ['a'], truncated: true })).toEqual({ metrics: ['a'], isCut: true })
    expect(carryingOf({})).toEqual({ metrics: [], isCut: false })
  })
})
