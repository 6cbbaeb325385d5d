/** What the drawing and all that is around it share. */
import type { Drawn } from './drawing/fold.ts'
import type { Layout } from './layout.ts'
import type { GraphCanvasProps, GraphMarks } from './types.ts'

/** How the canvas is looked at; of this page alone, and gone with it. */
export interface CanvasView {
  folded: ReadonlySet<string>
  focusPath: boolean
  outline: boolean
  full: boolean
}

/** What the toolbar, the outline and the drawing share. */
export interface Canvas extends Omit<GraphCanvasProps, 'marks' | 'tools' | 'height'> {
  marks: GraphMarks
  drawn: Drawn
  layout: Layout
  lit: ReadonlySet<string> | null
  view: CanvasView
  setView(change: Partial<CanvasView>): void
  scheme: 'light' | 'dark'
}
