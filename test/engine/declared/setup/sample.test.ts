import { describe, expect, it } from 'vitest'
import { completeSample } from '../../../../engine/declared/setup/plan.ts'

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
      app: { version: '2', name: 'example-service' },
    })
    expect(completeSample(null, { labels })).toEqual({
      message: 'an example event',
      app: { name: 'example-service' },
      took: 1,
    })
  })

  it('keeps what is there, and changes nothing of the plan’s', () => {
    const sample = { app: 'text', took: 3 }
    expect(completeSample(sample, { labels })).toEqual(sample)
    expect(completeSample({ app: { name: '' } }, { labels })).toMatchObject({
      app: { name: 'example-service' },
    })
    expect(completeSample({ message: 'm' }, {})).toEqual({ message: 'm' })
  })
})
