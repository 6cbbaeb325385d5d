/**
 * Pulses that run along edges once. Each is an element with an animation of its own that the compositor
 * runs: nothing is rendered per frame. What is too much is dropped, not queued: a pulse says that
 * something came, the numbers say how much.
 */
import { ViewportPortal } from '@xyflow/react'
import { type RefObject, useEffect, useRef } from 'react'
import type { Pulse } from '../types.ts'

/** At most so many at a time, on an edge and in all. */
const ON_AN_EDGE = 3
const IN_ALL = 40
const DURATION_MS = 1_100
const STEPS = 16
/** Pulses whose numbers are remembered. */
const REMEMBERED = 4_000

interface Running {
  seen: Set<string>
  byEdge: Map<string, number>
  total: number
}

/** @param drawnEdge the edge that is drawn for an edge; they differ where groups are collapsed */
export function PulseLayer({
  pulses,
  drawnEdge,
  root,
}: {
  pulses: readonly Pulse[]
  drawnEdge(edge: string): string | undefined
  root: RefObject<HTMLElement | null>
}) {
  const layer = useRef<HTMLDivElement>(null)
  const running = useRef<Running>({ seen: new Set(), byEdge: new Map(), total: 0 })
  useEffect(() => {
    const state = running.current
    const still = document.hidden || window.matchMedia('(prefers-reduced-motion: reduce)').matches
    for (const pulse of pulses) {
      const key = `${pulse.edge}#${pulse.n}`
      if (state.seen.has(key)) continue
      remember(state.seen, key)
      const edge = drawnEdge(pulse.edge)
      if (still || !edge || !layer.current || !root.current) continue
      run(state, edge, pulse, layer.current, root.current)
    }
  }, [pulses, drawnEdge, root])
  return (
    <ViewportPortal>
      <div ref={layer} className="graph-pulses" aria-hidden />
    </ViewportPortal>
  )
}

function remember(seen: Set<string>, key: string): void {
  seen.add(key)
  if (seen.size > REMEMBERED) seen.delete(seen.values().next().value!)
}

function run(state: Running, edge: string, pulse: Pulse, layer: HTMLElement, root: HTMLElement): void {
  const on = state.byEdge.get(edge) ?? 0
  if (on >= ON_AN_EDGE || state.total >= IN_ALL) return
  // An edge out of sight is not in the document.
  const path = root.querySelector<SVGPathElement>(
    `.react-flow__edge[data-id="${CSS.escape(edge)}"] .react-flow__edge-path`,
  )
  if (!path) return
  const dot = document.createElement('div')
  dot.className = 'graph-pulse'
  dot.dataset.tone = pulse.tone
  layer.append(dot)
  state.byEdge.set(edge, on + 1)
  state.total++
  const ended = () => {
    dot.remove()
    state.byEdge.set(edge, Math.max(0, (state.byEdge.get(edge) ?? 1) - 1))
    state.total--
  }
  const animation = dot.animate(framesOf(path), {
    duration: DURATION_MS,
    delay: on * 260,
    easing: 'ease-in-out',
    fill: 'backwards',
  })
  animation.onfinish = ended
  animation.oncancel = ended
}

function framesOf(path: SVGPathElement): Keyframe[] {
  const length = path.getTotalLength()
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const at = path.getPointAtLength((length * i) / STEPS)
    return {
      transform: `translate(${at.x}px, ${at.y}px)`,
      opacity: i === 0 || i === STEPS ? 0 : 1,
    }
  })
}
