/** Lays large graphs out beside the page, so that it stays fluid. */
import type { GraphPosition } from '../../../schemas/types.ts'
import { type Layout, layoutGraph } from '../layout.ts'
import type { Recent } from './connected.ts'
import type { Drawn } from './fold.ts'

export interface LayoutTask {
  n: number
  drawn: Drawn
  positions: readonly GraphPosition[]
  recent: Recent
}
export interface LayoutDone {
  n: number
  layout: Layout
}

self.onmessage = ({ data }: MessageEvent<LayoutTask>) => {
  const done: LayoutDone = { n: data.n, layout: layoutGraph(data.drawn, data.positions, data.recent) }
  self.postMessage(done)
}
