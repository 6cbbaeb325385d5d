/** The drawing of the editor: what is done on it becomes the same steps as in the list. */
import { useMemo, useRef } from 'react'
import { useRoomBelow } from '../../lib/use-room-below.ts'
import { refusal } from '../draft/connect.ts'
import type { PartKind } from '../draft/ids.ts'
import type { Place } from '../draft/parts.ts'
import { GraphCanvas } from '../graph-canvas.tsx'
import type { GraphEditing, GraphMarks } from '../types.ts'
import type { ListProps } from './list/props.ts'
import { refusalsOf } from './state/problems.ts'
import { usePlaces } from './state/use-places.tsx'

/** Height of the drawing at least, in pixels; then the page scrolls. */
const LEAST = 380

interface Props extends ListProps {
  marks: GraphMarks
  mayEdit: boolean
  /** Fills what is around it, which has a height of its own. */
  isRoom: boolean
  onNew: (kind: PartKind, at: Place | null) => void
}

export function EditorCanvas(props: Props) {
  const { editor, isEditing, isRoom, mayEdit, marks, selected, onSelect, onOpen, onNew } = props
  const places = usePlaces(editor, isEditing)
  const editing = useEditing(props, places.move)
  const box = useRef<HTMLDivElement>(null)
  const room = useRoomBelow(box, LEAST)
  const { changes, draft } = editor
  const { answer, error } = editor.preview
  const shown = useMemo(
    () =>
      isEditing ? { ...marks, changes, notes: refusalsOf({ draft, preview: { answer, error } }) } : marks,
    [isEditing, marks, changes, draft, answer, error],
  )
  return (
    <div ref={box} className={isRoom ? 'editor-fill' : undefined}>
      <GraphCanvas
        graph={isEditing ? editor.drawn : editor.live}
        label={`Graph of ${editor.live.project.name}`}
        marks={shown}
        mode={isEditing ? 'edit' : 'live'}
        selected={selected}
        onSelect={onSelect}
        onOpen={onOpen}
        {...(mayEdit
          ? { onMove: places.move, onTidy: places.tidy, onFollow: () => onNew('trigger', null) }
          : {})}
        {...(isEditing ? { editing } : {})}
        height={isRoom ? '100%' : isEditing ? 'calc(62vh - var(--banner, 0px))' : room}
      />
    </div>
  )
}

/** The same object for as long as the canvas stands: what it does is looked up when it is done. */
function useEditing(props: Props, move: ReturnType<typeof usePlaces>['move']): GraphEditing {
  const latest = useRef({ ...props, move })
  latest.current = { ...props, move }
  const { graph } = props.editor
  return useMemo(
    () => ({
      refusal: (connection) => refusal(graph, connection),
      onConnect: (connection) => {
        latest.current.actions.connect(connection)
      },
      onDelete: (ids) => void latest.current.actions.remove(ids),
      onDrop: ({ kind, name }, at) => {
        if (name === null) latest.current.onNew(kind, at)
        else latest.current.actions.addExisting([{ kind, name }], at)
        return null
      },
      onPlace: (id, at) => latest.current.move([{ node: id, ...at }]),
    }),
    [graph],
  )
}
