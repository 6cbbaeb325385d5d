/** Issue 18.4: effects are executed from what the machine returns. */
import { expect, it } from 'vitest'
import { effects } from '../../../engine/outbox/rows.ts'
import { lifecycles } from '../../../machines/index.ts'
import { eventsOf, start, step } from '../../../machines/step.ts'

it('18.4: every effect of the machine of deliveries has an executor, and no executor is without an effect', () => {
  const { delivery } = lifecycles
  const returned = new Set<string>()
  const seen = new Set<string>()
  const open = [start(delivery, { max_tries: 2 })]
  for (let at = open.pop(); at; at = open.pop()) {
    if (seen.has(JSON.stringify(at))) continue
    seen.add(JSON.stringify(at))
    for (const type of eventsOf(delivery)) {
      const next = step(delivery, at, { type, at: 1 })
      if (!next.accepted) continue
      for (const effect of next.effects) returned.add(effect.type)
      open.push(next.snapshot)
    }
  }
  expect([...returned].sort()).toEqual(Object.keys(effects).sort())
})
