/** The drawing of the editor: what is done on it becomes the same steps as in the list. */
import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import type { GraphPosition } from '../../../schemas/types.ts'
import { graphApi, graphKeys } from '../../graph-client.ts'
import { useRoomBelow } from '../../lib/use-room-below.ts'
import { refusal } from '../draft/connect.ts'
import { withPlaces } from '../draft/draft.ts'
import { findNode, type PartKind } from '../draft/ids.ts'
import type { Place } from '../draft/parts.ts'
import { GraphCanvas } from '../graph-canvas.tsx'
import type { GraphEditing, GraphMarks } from '../types.ts'
import type { ListProps } from './list/props.ts'

/** Height of the drawing at least, in pixels; then the page scrolls. */
const LEAST = 380

interface Props extends ListProps {
  marks: GraphMarks
  onNew: (kind: PartKind, at: Place) => void
}

export function EditorCanvas({
  editor,
  actions,
  isEditing,
  marks,
  selected,
  onSelect,
  onOpen,
  onNew,
}: Props) {
  const move = useMoves(editor)
  const editing: GraphEditing = {
    refusal: (connection) => refusal(editor.graph, connection),
    onConnect: (connection) => {
      actions.connect(connection)
    },
    onDelete: (ids) => void actions.remove(ids),
    onDrop: ({ kind, name }, at) => {
      if (name === null) onNew(kind, at)
      else actions.addExisting([{ kind, name }], at)
    },
  }
  const box = useRef<HTMLDivElement>(null)
  const room = useRoomBelow(box, LEAST)
  return (
    <div ref={box}>
      <GraphCanvas
        graph={isEditing ? editor.drawn : editor.live}
        label={`Graph of ${editor.live.project.name}`}
        marks={isEditing ? { ...marks, changes: editor.changes } : marks}
        selected={selected}
        onSelect={onSelect}
        onOpen={onOpen}
        onMove={move}
        {...(isEditing ? { editing } : {})}
        height={isEditing ? 'calc(62vh - var(--banner, 0px))' : room}
      />
    </div>
  )
}

/** Where nodes are put is kept at once; that of new ones with the draft that makes them. */
function useMoves({ live, draft, replace }: ListProps['editor']) {
  const queries = useQueryClient()
  return (moved: readonly GraphPosition[]) => {
    const fresh = moved.filter(({ node }) => !findNode(live, node))
    if (fresh.length && draft) replace(withPlaces(draft, fresh))
    const kept = moved.filter(({ node }) => findNode(live, node))
    if (kept.length === 0) return
    const positions = [
      ...live.positions.filter(({ node }) => !kept.some((place) => place.node === node)),
      ...kept,
    ]
    const key = graphKeys.graph(live.project.id)
    queries.setQueryData(key, { ...live, positions })
    void graphApi
      .putPositions(live.project.id, positions)
      .finally(() => queries.invalidateQueries({ queryKey: key }))
  }
}
