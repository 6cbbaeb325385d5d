/** Counters of /metrics. */
import { expect, it } from 'vitest'
import { Tallies } from '../../../engine/log/figures.ts'

it('F: what models cost is counted without the noise of binary fractions', () => {
  const tallies = new Tallies()
  for (const usd of [0.1, 0.2, 0.000000001]) tallies.add('model_spend_usd', { provider: 'a' }, usd)
  expect(tallies.list()).toEqual([{ name: 'model_spend_usd', labels: { provider: 'a' }, value: 0.300000001 }])
})
