/** What the drawing and all that is around it share. */
import type { RefObject } from 'react'
import type { GraphNode } from '../../schemas/types.ts'
import type { Room } from './drawing/fit.ts'
import type { Flow } from './drawing/flows.ts'
import type { Drawn } from './drawing/fold.ts'
import type { Box } from './drawing/geometry.ts'
import type { Layout } from './layout.ts'
import type { GraphCanvasProps, GraphMarks, Mode } from './types.ts'

/** How the canvas is looked at; of this page alone, and gone with it. */
export interface CanvasView {
  folded: ReadonlySet<string>
  focusPath: boolean
  outline: boolean
  /** The overview in the outline. */
  overview: boolean
  full: boolean
  /** Flows instead of the drawing; null: as its size asks for. */
  flows: boolean | null
  /** The flow that is drawn; null: everything. */
  flow: string | null
}

/** Says at the pointer why something cannot be. */
export type Refuse = (at: { x: number; y: number }, why: string) => void

/** What the toolbar, the outline and the drawing share. */
export interface Canvas extends Omit<GraphCanvasProps, 'marks' | 'tools' | 'height' | 'mode'> {
  mode: Mode
  marks: GraphMarks
  drawn: Drawn
  layout: Layout
  /** Around the drawing, with the ghost beside a part that is alone. */
  extent: Box
  /** Beside a source that is alone; null: there is none. */
  ghost: Box | null
  room: Room
  /** How many times the height of the room all of it is at the least zoom. */
  screens: number
  flows: readonly Flow[]
  /** Whether the flows are listed instead of a drawing. */
  isListed: boolean
  loose: readonly GraphNode[]
  skills: readonly GraphNode[]
  lit: ReadonlySet<string> | null
  view: CanvasView
  setView(change: Partial<CanvasView>): void
  /** Set: the next drawing is brought into view. */
  fitNext: RefObject<boolean>
  refuse: Refuse
  scheme: 'light' | 'dark'
}
