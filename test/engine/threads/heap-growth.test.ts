import { expect, it } from 'vitest'
import { growthFor } from '../../../engine/threads/thread.ts'

it('lets heaps grow less while the process is large, and does not waver about the bound', () => {
  const seen: number[] = []
  let growth = growthFor(0)
  for (const mb of [200, 330, 345, 330, 309, 330]) {
    growth = growthFor(mb * 1e6, growth)
    seen.push(growth)
  }
  expect(seen).toEqual([40, 40, 10, 10, 40, 40])
})
