/** Issue 16, A5: triggers that name a level as it was spelled before still fire, and no more than that. */
import { expect, it } from 'vitest'
import type { Filter } from '../../../../schemas/types.ts'
import { CoreWorld, definitionOf } from './core-world.ts'

const CASES: [Filter, string, boolean][] = [
  [{ field: 'event_type', op: 'eq', value: 'Info' }, 'INFO', true],
  [{ field: 'event_type', op: 'eq', value: 'warning' }, 'WARN', true],
  [{ field: 'event_type', op: 'eq', value: 'CRITICAL' }, 'FATAL', true],
  [{ field: 'event_type', op: 'eq', value: 'WARNING' }, 'ERROR', false],
  [{ field: 'event_type', op: 'in', value: ['err', 'deploy'] }, 'ERROR', true],
  [{ field: 'event_type', op: 'neq', value: 'info' }, 'INFO', false],
  [{ field: 'event_type', op: 'neq', value: 'info' }, 'ERROR', true],
  [{ field: 'severity', op: 'eq', value: 'warning' }, 'WARN', true],
  [{ field: 'level', op: 'eq', value: 'ERROR' }, 'error', true],
  [{ field: 'level', op: 'neq', value: 'error' }, 'ERROR', false],
  // Names that are no level, and fields that hold none, are taken to the letter.
  [{ field: 'event_type', op: 'eq', value: 'Deploy' }, 'deploy', false],
  [{ field: 'state', op: 'eq', value: 'Info' }, 'INFO', false],
]

it.each(CASES)('A5: %j of %s: %s', (filter, value, fires) => {
  const world = new CoreWorld(definitionOf({ condition: { event: 'any' }, filters: [filter] }))
  const [decision] = world.post(
    filter.field === 'event_type'
      ? { ts: 0, labels: { service: 'a' }, type: value }
      : { ts: 0, labels: { service: 'a', [filter.field]: value } },
  )
  expect(decision?.do === 'fire').toBe(fires)
})
