/**
 * Brings the drawing into view: when it is drawn, when it changes while it is only read, when a part is added out of
 * sight, and when a panel or the window gives it another size, around what is selected. Who moved it by hand keeps it,
 * but for what is selected, which stays in sight.
 */
import { useReactFlow } from '@xyflow/react'
import { useCallback, useEffect, useRef } from 'react'
import type { Canvas } from '../canvas.ts'
import { fitted, following, isSeen, placed, type View } from '../drawing/fit.ts'
import type { Box } from '../drawing/geometry.ts'

const MOVE_MS = 150
/** No motion for whoever asks for none. */
export const moveMs = (): number =>
  window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : MOVE_MS

type MoveEvent = MouseEvent | TouchEvent | null

type Fitting = Pick<Canvas, 'layout' | 'extent' | 'room' | 'selected'>

const focusOf = ({ layout, selected }: Fitting): Box | null => layout.boxes.get(selected.at(-1) ?? '') ?? null

/** How a canvas is seen when it is drawn. */
export const firstView = (canvas: Fitting): View => fitted(canvas.extent, canvas.room, focusOf(canvas))

/** @returns a function that brings all of it into view */
export function useFitNow(canvas: Canvas): () => void {
  const flow = useReactFlow()
  const latest = useRef(canvas)
  latest.current = canvas
  return useCallback(() => void flow.setViewport(firstView(latest.current), { duration: moveMs() }), [flow])
}

/** @returns for React Flow: who moved the view by hand keeps it as it is */
export function useFit(canvas: Canvas): Record<'onMoveStart' | 'onMove', (event: MoveEvent) => void> {
  const flow = useReactFlow()
  const isOwn = useRef(false)
  const latest = useRef(canvas)
  latest.current = canvas
  const { room, extent, layout, fitNext, editing } = canvas
  const isFirst = useRef(true)
  const shown = useRef(extent)
  const known = useRef(layout)
  useEffect(() => {
    // The first view is the one it is drawn with.
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    const now = latest.current
    const focus = focusOf(now)
    if (!isOwn.current) {
      void flow.setViewport(firstView({ ...now, room }), { duration: moveMs() })
      return
    }
    const view = flow.getViewport()
    if (focus && !isSeen(focus, view, room))
      void flow.setViewport(placed(now.extent, room, view.zoom, focus), { duration: moveMs() })
  }, [flow, room])
  useEffect(() => {
    const isSame = sameBox(shown.current, extent)
    shown.current = extent
    const added = [...layout.boxes].filter(([id]) => !known.current.boxes.has(id)).map(([, box]) => box)
    known.current = layout
    if (fitNext.current) {
      fitNext.current = false
      isOwn.current = false
    } else if (editing && added.length > 0) {
      // What was added is seen; else nothing moves under the hands of whoever edits.
      const [now, view] = [latest.current, flow.getViewport()]
      // With what would come next beside it.
      const shownNow = now.ghost ? [...added, now.ghost] : added
      if (shownNow.every((box) => isSeen(box, view, now.room))) return
      const next = isOwn.current
        ? placed(extent, now.room, view.zoom, added[0]!)
        : fitted(extent, now.room, added[0]!)
      void flow.setViewport(next, { duration: moveMs() })
      return
    } else if (isSame || isOwn.current || editing) return
    void flow.setViewport(firstView({ ...latest.current, layout, extent }), { duration: moveMs() })
  }, [flow, extent, layout, fitNext, editing])
  useFollow(canvas)
  return {
    // Without an event it was moved by a program: by this, or by the toolbar.
    onMove: (event) => {
      if (event !== null) isOwn.current = true
    },
    // A press alone moves nothing, and a wheel begins with its first step.
    onMoveStart: (event) => {
      if (event?.type === 'wheel') isOwn.current = true
    },
  }
}

/** In a replay all that a moment lights is brought into sight, also where what it says makes the drawing another size. */
function useFollow({ mode, marks, layout, room, extent }: Canvas): void {
  const flow = useReactFlow()
  const { lit } = marks
  useEffect(() => {
    if (mode !== 'replay' || lit.size === 0) return
    const boxes = [...lit].flatMap((id) => layout.boxes.get(id) ?? [])
    const next = following(extent, room, flow.getViewport(), boxes)
    if (next) void flow.setViewport(next, { duration: moveMs() })
  }, [mode, lit, layout, room, extent, flow])
}

const sameBox = (a: Box, b: Box): boolean =>
  a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height
