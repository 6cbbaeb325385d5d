import { expect, it } from 'vitest'
import { growthFor } from '../../../engine/threads/thread.ts'

it('keeps heaps tight while the process is large, and does not waver about the bound', () => {
  const seen: boolean[] = []
  let growth = growthFor(0)
  for (const mb of [200, 350, 360, 345, 330, 345]) {
    growth = growthFor(mb * 1e6, growth)
    seen.push(growth.isTight)
  }
  expect(seen).toEqual([false, false, true, true, false, false])
})
