/** Labels of numbers are in rows alone: what is counted by the index, or narrowed by it, holds for them too. */
import { expect, it } from 'vitest'
import { inspectInSteps } from '../../../../engine/agents/inspect.ts'
import { atOnce } from '../../../../engine/log/steps.ts'
import type { InspectQuestion } from '../../../../engine/log/timeline/inspect-pages.ts'
import { entityValuesInSteps, histogramInSteps, statsInSteps } from '../../../../engine/log/timeline/stats.ts'
import type { StatsRequest } from '../../../../schemas/types.ts'
import { addSource, event, openHarness, T0 } from '../store/store-harness.ts'

const MINUTE = 60_000
const NOW = T0 + 60 * MINUTE
/** So many that they are more than one segment, and more than are read at once. */
const MANY = 5_000

/** In the last half hour every hundredth answer was a 500, each of cart; all others were a 200 of pay. */
function world() {
  const harness = openHarness()
  const app = addSource(harness.store, 'app', [
    { name: 'service', field: 'service', primary: true },
    { name: 'code', field: 'code', type: 'number' },
  ])
  harness.append(
    Array.from({ length: MANY }, (_, i) => {
      const failed = i % 100 === 0
      return event({ service: failed ? 'cart' : 'pay' }, NOW - 29 * MINUTE + i * 300, {
        numbers: { code: failed ? 500 : 200 },
        text: failed ? 'answered badly' : 'answered',
      })
    }),
    { sourceId: app },
  )
  const stats = (request: Partial<StatsRequest>) =>
    atOnce(statsInSteps(harness.ctx, { by: 'service', ...request }, NOW))
  const inspect = (question: InspectQuestion) =>
    atOnce(inspectInSteps(harness.ctx, question, { projects: [], now: NOW, isRedacted: false }))
  return { ...harness, stats, inspect }
}

it('narrow counts', () => {
  const { stats } = world()
  expect(stats({ where: { code: 500 } })).toMatchObject({
    total: { now: MANY / 100 },
    rows: [{ value: 'cart', now: MANY / 100 }],
  })
  expect(stats({ where: { code: 500, service: 'pay' } }).total.now).toBe(0)
  expect(stats({ where: { code: 404 } }).total.now).toBe(0)
  expect(stats({ where: { key_value: 'cart' } }).total.now).toBe(MANY / 100)
})

it('are counted by', () => {
  const { stats } = world()
  expect(stats({ by: 'code' }).rows.map(({ value, now }) => [value, now])).toEqual([
    ['200', MANY - MANY / 100],
    ['500', MANY / 100],
  ])
})

it('narrow counts over time', () => {
  const { ctx } = world()
  const told = atOnce(histogramInSteps(ctx, { selector: { code: 500 }, window: '1h' }, NOW))
  expect(told.total).toBe(MANY / 100)
})

it('narrow what the tools look at', () => {
  const { inspect } = world()
  const changed = inspect({ tool: 'changed', selector: { code: 500 }, window: '30m' }).text
  expect(changed).toContain('answered badly')
  expect(changed).not.toContain('pay')
  expect(inspect({ tool: 'series', selector: { code: 500 }, label: 'code' }).heading).toContain(
    `over ${MANY / 100} events`,
  )
  expect(inspect({ tool: 'entities', label: 'service', selector: { code: 500 } }).text).toContain(
    `service=cart: ${MANY / 100} events`,
  )
  expect(inspect({ tool: 'entities', label: 'service', selector: { code: 500 } }).text).not.toContain('pay')
})

it('name no entities, which is said', () => {
  const { ctx } = world()
  expect(() => atOnce(entityValuesInSteps(ctx, 'code', 10))).toThrow(
    'code is a label of numbers, which names no entities; stats counts its values',
  )
})
