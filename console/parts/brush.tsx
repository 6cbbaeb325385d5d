/**
 * Lies over a chart and takes a span of it: by dragging with mouse or finger, or by keys: arrows move, Shift with an
 * arrow widens, Enter takes what is marked, Escape gives it up.
 */
import { type CSSProperties, type KeyboardEvent, type PointerEvent, useState } from 'react'

/** Of time, as ISO 8601. */
export interface Span {
  from: string
  to: string
}

interface Props {
  label: string
  /** Beginning of the chart, epoch ms. */
  from: number
  stepMs: number
  steps: number
  /** What stands at a step, for those who hear the page. */
  sayStep: (step: number) => string
  onPick: (span: Span) => void
  style?: CSSProperties
}

/** Pixels a finger or mouse moves at least: less is a tap. */
const LEAST = 4

export function Brush({ label, from, stepMs, steps, sayStep, onPick, style }: Props) {
  /** Where it began and where it is, as steps. */
  const [marked, setMarked] = useState<readonly [number, number] | null>(null)
  const [pressed, setPressed] = useState<number | null>(null)
  /** The step under the mouse: the brush lies over what the chart would say of it. */
  const [hovered, setHovered] = useState<number | null>(null)
  const within = (step: number): number => Math.max(0, Math.min(steps - 1, step))
  const pick = (a: number, b: number): void => {
    const [first, last] = [Math.min(a, b), Math.max(a, b)]
    setMarked(null)
    onPick({
      from: new Date(Math.round(from + first * stepMs)).toISOString(),
      to: new Date(Math.round(from + (last + 1) * stepMs)).toISOString(),
    })
  }
  const stepAt = (event: PointerEvent<HTMLElement>): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    return within(Math.floor(((event.clientX - left) / Math.max(1, width)) * steps))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const [start, end] = marked ?? [steps - 1, steps - 1]
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 }[event.key]
    if (by !== undefined) {
      const next = within(end + by)
      setMarked([event.shiftKey ? start : next, next])
    } else if (event.key === 'Home' || event.key === 'End') {
      const next = event.key === 'Home' ? 0 : steps - 1
      setMarked([event.shiftKey ? start : next, next])
    } else if (event.key === 'Enter' && marked) {
      // One step alone is too little to look at.
      if (start === end) pick(within(start - 2), within(start + 2))
      else pick(start, end)
    } else if (event.key === 'Escape' && marked) setMarked(null)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const [low, high] = marked ? [Math.min(...marked), Math.max(...marked)] : [0, 0]
  return (
    <div
      className="brush"
      style={style}
      role="slider"
      tabIndex={0}
      aria-label={`${label}. Arrow keys move, Shift widens, Enter takes it.`}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, steps - 1)}
      aria-valuenow={marked?.[1] ?? steps - 1}
      aria-valuetext={
        marked ? (low === high ? sayStep(low) : `${sayStep(low)} to ${sayStep(high)}`) : `${steps} steps`
      }
      title={hovered === null || hovered >= steps ? undefined : sayStep(hovered)}
      onKeyDown={onKeyDown}
      onBlur={() => setMarked(null)}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.currentTarget.setPointerCapture(event.pointerId)
        setPressed(event.clientX)
        setMarked([stepAt(event), stepAt(event)])
      }}
      onPointerMove={(event) => {
        if (pressed !== null && marked) setMarked([marked[0], stepAt(event)])
        setHovered(stepAt(event))
      }}
      onPointerUp={(event) => {
        if (pressed !== null && marked && Math.abs(event.clientX - pressed) >= LEAST)
          pick(marked[0], stepAt(event))
        else setMarked(null)
        setPressed(null)
      }}
      onPointerCancel={() => {
        // The page is scrolled instead.
        setPressed(null)
        setMarked(null)
      }}
    >
      {marked && steps > 0 && (
        <span
          className="brush-marked"
          style={{ left: `${(low / steps) * 100}%`, width: `${((high - low + 1) / steps) * 100}%` }}
        />
      )}
    </div>
  )
}
