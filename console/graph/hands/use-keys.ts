/**
 * Keys on the drawing. Tab reaches one node; arrows go on from it along the edges and in its column,
 * Enter opens it, Escape gives the selection up and then leaves, Delete deletes where that is allowed.
 */
import { useReactFlow } from '@xyflow/react'
import { type FocusEvent, type KeyboardEvent, type RefObject, useCallback, useRef, useState } from 'react'
import type { Canvas } from '../canvas.ts'
import { partOf } from '../draft/ids.ts'
import { isSeen } from '../drawing/fit.ts'
import { kindFold } from '../drawing/fold.ts'
import { type Arrow, nextNode } from '../drawing/walk.ts'
import type { NodeKind } from '../types.ts'

const ARROWS: readonly string[] = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']

export function useKeys(canvas: Canvas, root: RefObject<HTMLDivElement | null>) {
  const [at, setAt] = useState<string | null>(null)
  const latest = useRef(canvas)
  latest.current = canvas
  const goTo = useGoTo(canvas, root)
  const { drawn, layout } = canvas
  const known = at !== null && layout.boxes.has(at)
  const tabStop = known ? at : (drawn.nodes[0]?.id ?? null)

  const unfold = useCallback((group: string) => {
    const folded = new Set(latest.current.view.folded)
    folded.delete(kindFold(group.slice('group:'.length) as NodeKind))
    latest.current.fitNext.current = true
    latest.current.setView({ folded })
  }, [])

  const walk = (from: string, arrow: Arrow) => {
    const next = nextNode(from, arrow, layout.boxes, drawn.edges)
    if (next === null) return
    setAt(next)
    canvas.onSelect([next])
    goTo(next)
  }

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const id = nodeOf(event.target) ?? tabStop
    if (isTyping(event.target) || id === null) return
    if (ARROWS.includes(event.key) && !event.altKey && !event.ctrlKey && !event.metaKey)
      walk(id, event.key as Arrow)
    else if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey))
      canvas.onSelect(drawn.nodes.flatMap(({ id }) => (partOf(id) ? id : [])))
    else if (event.key === 'Enter') {
      if (id.startsWith('group:')) unfold(id)
      else canvas.onOpen?.(id)
    } else if (event.key === ' ') canvas.onSelect([id])
    else if (event.key === 'Escape') {
      // What is around the drawing closes its own then.
      if (!leave(canvas)) return blur(canvas)
    } else if (canvas.editing && (event.key === 'Delete' || event.key === 'Backspace')) {
      if (canvas.selected.length) canvas.editing.onDelete(canvas.selected)
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  const onFocus = (event: FocusEvent) => {
    const id = nodeOf(event.target)
    if (id !== undefined) setAt(id)
  }
  return { tabStop, onKeyDown, onFocus, unfold }
}

/** While one only reads, Escape leaves the drawing in the end. */
function blur({ editing }: Canvas): void {
  if (!editing && document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

const nodeOf = (target: EventTarget): string | undefined =>
  (target as HTMLElement).closest<HTMLElement>('.react-flow__node')?.dataset.id

const isTyping = (target: EventTarget): boolean =>
  (target as HTMLElement).closest('input, textarea, select, [contenteditable="true"]') !== null

/** What was opened last goes first: the selection, the flow, the full screen. @returns whether anything was open */
export function leave(canvas: Canvas): boolean {
  if (canvas.selected.length) canvas.onSelect([])
  else if (canvas.view.flow !== null) canvas.setView({ flow: null })
  else if (canvas.view.full) canvas.setView({ full: false })
  else return false
  return true
}

/** Brings a node into sight and puts the focus on it. */
export function useGoTo(canvas: Pick<Canvas, 'layout' | 'room'>, root: RefObject<HTMLElement | null>) {
  const flow = useReactFlow()
  const { layout, room } = canvas
  return useCallback(
    (id: string) => {
      const box = layout.boxes.get(id)
      if (!box || !root.current) return
      const view = flow.getViewport()
      if (!isSeen(box, view, room))
        void flow.setCenter(box.x + box.width / 2, box.y + box.height / 2, { zoom: view.zoom })
      focusWhenDrawn(id, root.current, 20)
    },
    [flow, layout, room, root],
  )
}

/** A node that was out of sight is drawn a frame or two later. */
export function focusWhenDrawn(id: string, root: HTMLElement, frames: number): void {
  const node = root.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)
  if (node) node.focus({ preventScroll: true })
  else if (frames) requestAnimationFrame(() => focusWhenDrawn(id, root, frames - 1))
}
