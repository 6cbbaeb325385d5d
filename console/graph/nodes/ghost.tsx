/** Beside a source that is alone: what would come next. */
import { ViewportPortal } from '@xyflow/react'
import { Plus } from 'lucide-react'
import type { Canvas } from '../canvas.ts'
import { type Box, COLUMN_GAP, PORT_Y } from '../drawing/geometry.ts'

interface Props {
  box: Box
  canvas: Canvas
  onFollow(id: string): void
}

export function Ghost({ box, canvas, onFollow }: Props) {
  const only = canvas.drawn.nodes[0]!
  return (
    <ViewportPortal>
      <div className="graph-ghost-line" style={at(box.x - COLUMN_GAP, box.y + PORT_Y)} aria-hidden />
      <button
        type="button"
        className="graph-ghost nopan nodrag"
        style={{ ...at(box.x, box.y), width: box.width, height: box.height }}
        onClick={() => onFollow(only.id)}
      >
        <Plus size={16} aria-hidden />
        <span>Add a trigger on {only.name}</span>
      </button>
    </ViewportPortal>
  )
}

const at = (x: number, y: number) => ({ transform: `translate(${x}px, ${y}px)` })
