import { describe, expect, it } from 'vitest'
import { changesOf, isWhole, tablesOf, takenOver } from '../../console/forms/discovery/proposal.ts'
import { toDrafts } from '../../console/forms/label-drafts.ts'
import { toConfig } from '../../console/forms/source-draft.ts'

const draft = {
  config: { url: 'https://a.example/', credential: 's3cret', id_field: 'old' },
  labels: toDrafts([
    { name: 'service', field: 'svc', primary: true },
    { name: 'env', const: 'prod' },
  ]),
}
const proposed = {
  url: 'https://a.example/',
  id_field: 'id',
  payload_key: 'items',
  labels: [
    { name: 'service', field: 'service' },
    { name: 'ms', field: 'took.ms', type: 'number' },
  ],
}

describe('a proposal', () => {
  it('changes the fields it names, and the labels one by one', () => {
    expect(changesOf(draft, proposed)).toEqual([
      { path: '/id_field', from: 'old', to: 'id' },
      { path: '/payload_key', to: 'items' },
      { path: '/label service', from: 'svc, the entity key', to: 'service' },
      { path: '/label env', from: '"prod"' },
      { path: '/label ms', to: 'took.ms, a number' },
    ])
  })

  it('finds a list that the form has begun and nobody filled in not set', () => {
    const begun = { config: { queries: [{}] }, labels: [] }
    expect(changesOf(begun, { queries: [{ promql: 'up' }] })).toEqual([
      { path: '/queries', to: [{ promql: 'up' }] },
    ])
  })

  it('taken over leaves what it says nothing of, such as secrets, and then changes nothing more', () => {
    const next = takenOver(draft, proposed)
    expect(toConfig(next)).toEqual({ ...proposed, credential: 's3cret' })
    expect(changesOf(next, proposed)).toEqual([])
  })

  it('of a database with several tables names them, and leaves the form without what must be given', () => {
    const tables = [
      { name: 'public.orders', kind: 'table' },
      { name: 'public.late', kind: 'view' },
    ]
    expect(tablesOf({ tables, proposed_config: {} })).toEqual(['public.orders', 'public.late'])
    expect(tablesOf({ columns: [] })).toEqual([])
    const required = ['table', 'cursor_column']
    const without = { config: { table: 'public.orders', cursor_column: '' }, labels: [] }
    expect(changesOf(without, {})).toEqual([])
    expect(isWhole(takenOver(without, {}), required)).toBe(false)
    expect(isWhole(takenOver(without, { cursor_column: 'id' }), required)).toBe(true)
  })

  it('without labels keeps those there are', () => {
    for (const labels of [undefined, []]) {
      expect(changesOf(draft, { id_field: 'old', labels })).toEqual([])
      expect(takenOver(draft, { labels }).labels).toEqual(draft.labels)
    }
  })
})
