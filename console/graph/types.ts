/**
 * How the canvas is used: the live page, the editor and the replay give it a graph and say what to
 * mark; it draws, and tells what people do. It knows nothing of drafts, of time or of the daemon.
 */
import type { ReactNode } from 'react'
import type { GraphNode, GraphPosition, ProjectGraph } from '../../schemas/types.ts'

export type NodeKind = GraphNode['kind']

/** How a mark looks; each tone has a colour and a word, so that colour alone says nothing. */
export type Tone = 'neutral' | 'busy' | 'waiting' | 'good' | 'bad'

/** A line on a node or an edge, such as "3 of 5 in 10m". */
export interface Note {
  text: string
  tone: Tone
  /** 0 to 1 draws a bar, such as a window that fills towards its threshold. */
  progress?: number
}

/** How fast events come to a source, as the page saw it. */
export interface Pace {
  /** Events a minute. */
  perMinute: number
  /** Events in equal steps of time, oldest first. */
  spark: readonly number[]
}

/** Something that travels along an edge once. A pulse that was drawn is known by its `n`. */
export interface Pulse {
  edge: string
  n: number
  tone: Tone
}

/** What is marked on top of a graph, by id of node or edge. */
export interface GraphMarks {
  /** Drawn in full while the others fade; empty: nothing fades. */
  lit: ReadonlySet<string>
  pulses: readonly Pulse[]
  notes: ReadonlyMap<string, Note>
  /** What a draft does to them. */
  changes: ReadonlyMap<string, 'created' | 'changed' | 'deleted'>
  /** Of sources; absent: it is not known. */
  paces?: ReadonlyMap<string, Pace>
}

export const NO_MARKS: GraphMarks = { lit: new Set(), pulses: [], notes: new Map(), changes: new Map() }

/** A connection while it is drawn or listed: `verdict` where it leaves an agent by one of its verdicts. */
export interface Connection {
  from: string
  to: string
  verdict: string | null
}

/** A part as it is dragged from the palette; without a name it is a new one. */
export interface DraggedPart {
  kind: Exclude<NodeKind, 'destination'>
  name: string | null
}

/** Type of the data a palette item carries while it is dragged (JSON of a DraggedPart). */
export const PART_DRAG_TYPE = 'application/x-svc-part'
/** The same of a part that is in the graph and not in the drawing: its id. */
export const NODE_DRAG_TYPE = 'application/x-svc-node'

/** What a node tells: how it is now, how it was at an instant, or what it is. */
export type Mode = 'live' | 'replay' | 'edit'

export interface GraphEditing {
  /** Null: it may be made; else why not, in a sentence that is shown while it is dragged. */
  refusal(connection: Connection): string | null
  onConnect(connection: Connection): void
  /** Ids of nodes and edges. */
  onDelete(ids: readonly string[]): void
  /** @returns null, or why it cannot be */
  onDrop(part: DraggedPart, at: { x: number; y: number }): string | null
  /** A part of the graph is put into the drawing. */
  onPlace(id: string, at: { x: number; y: number }): void
}

export interface GraphCanvasProps {
  graph: ProjectGraph
  /** Accessible name of the drawing. */
  label: string
  marks?: GraphMarks
  /** Ids of nodes and edges. */
  selected: readonly string[]
  onSelect(ids: readonly string[]): void
  /** Enter or double click on a node or an edge. */
  onOpen?(id: string): void
  /** Nodes were dragged to a place; absent: they cannot be. */
  onMove?(positions: readonly GraphPosition[]): void
  /** Absent: read-only. */
  editing?: GraphEditing
  /** Live when absent. */
  mode?: Mode
  /** Forgets where nodes were put, of some or, absent, all; absent: it cannot be done. */
  onTidy?(ids?: readonly string[]): void
  /** Makes what follows a part, such as the first trigger on a source; absent: it cannot be done. */
  onFollow?(id: string): void
  /** More buttons in its toolbar. */
  tools?: ReactNode
  /** CSS height; 70vh when absent. */
  height?: string
}
