import { describe, expect, it } from 'vitest'
import { completeSample as complete } from '../../../../engine/declared/setup/plan.ts'

const AT = Date.parse('2026-11-20T12:00:00Z')
const completeSample = (sample: Record<string, unknown> | null, config: Record<string, unknown>) =>
  complete(sample, { connector: 'webhook', config }, AT)
const labels = [
  { name: 'service', field: 'app.name', primary: true },
  { name: 'ms', field: 'took', type: 'number' },
  { name: 'event', field: 'header.x-github-event' },
  { name: 'kind', const: 'gateway' },
]

describe('the example event of a source', () => {
  it('has the field of the primary label, and of all others, where the plan’s lacks them', () => {
    expect(completeSample({ took: 9, app: { version: '2' } }, { labels })).toEqual({
      took: 9,
      app: { version: '2', name: 'checkout' },
    })
    expect(completeSample(null, { labels })).toEqual({
      message: 'an example event',
      app: { name: 'checkout' },
      took: 1,
    })
  })

  it('keeps what is there, and changes nothing of the plan’s', () => {
    const sample = { app: 'text', took: 3 }
    expect(completeSample(sample, { labels })).toEqual(sample)
    expect(completeSample({ app: { name: '' } }, { labels })).toMatchObject({
      app: { name: 'checkout' },
    })
    expect(completeSample({ message: 'm' }, {})).toEqual({ message: 'm' })
  })

  it('has the type, the text and the time that the mapping reads, and those of an entry of its list', () => {
    const mapping = { event_type_field: 'kind', event_time_field: 'at', text_template: '{say}', labels }
    expect(completeSample({ took: 9 }, mapping)).toMatchObject({
      ...{ kind: 'example', at: '2026-11-20T12:00:00.000Z', say: 'an example event' },
    })
    expect(completeSample({ alerts: [{ took: 9 }] }, { ...mapping, items_field: 'alerts' })).toMatchObject({
      alerts: [{ took: 9, kind: 'example', app: { name: 'checkout' } }],
    })
  })
})
