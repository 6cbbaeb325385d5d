/**
 * The layout of what is drawn. Small graphs are laid out at once; larger ones in a worker, while the
 * layout before stays on the screen.
 */
import { useEffect, useMemo, useRef, useState } from 'react'
import type { GraphPosition } from '../../../schemas/types.ts'
import { type Layout, layoutGraph, layoutKey } from '../layout.ts'
import type { Recent } from './connected.ts'
import type { Drawn } from './fold.ts'
import type { LayoutDone, LayoutTask } from './layout-worker.ts'

/** Up to here the layout takes a few milliseconds; 300 nodes took 90, 500 took 150 (2026-11, two cores). */
const AT_ONCE = 60

/** @returns null until the first layout of a large graph is there */
export function useLayout(drawn: Drawn, positions: readonly GraphPosition[], recent: Recent): Layout | null {
  const key = layoutKey(drawn, positions, recent)
  const small = drawn.nodes.length <= AT_ONCE
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds all that the layout reads.
  const now = useMemo(() => (small ? layoutGraph(drawn, positions, recent) : null), [key, small])
  const [later, setLater] = useState<Layout | null>(null)
  const worker = useRef<Worker | null>(null)
  const n = useRef(0)
  const last = useRef<Layout | null>(null)
  useEffect(
    () => () => {
      worker.current?.terminate()
      worker.current = null
    },
    [],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds all that the layout reads.
  useEffect(() => {
    n.current++
    if (small) return
    worker.current ??= new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
    worker.current.onmessage = ({ data }: MessageEvent<LayoutDone>) => {
      if (data.n === n.current) setLater(data.layout)
    }
    const task: LayoutTask = { n: n.current, drawn, positions, recent }
    worker.current.postMessage(task)
  }, [key, small])
  const shown = now ?? later ?? last.current
  last.current = shown
  return shown
}
