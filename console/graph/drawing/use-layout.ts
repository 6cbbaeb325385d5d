/** The layout of what is drawn: made again only when what it reads has changed. */
import { useMemo } from 'react'
import type { GraphPosition } from '../../../schemas/types.ts'
import { type Layout, layoutGraph, layoutKey } from '../layout.ts'
import type { Recent } from './connected.ts'
import type { Drawn } from './fold.ts'

export function useLayout(drawn: Drawn, positions: readonly GraphPosition[], recent: Recent): Layout {
  const key = layoutKey(drawn, positions, recent)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds all that the layout reads.
  return useMemo(() => layoutGraph(drawn, positions, recent), [key])
}
