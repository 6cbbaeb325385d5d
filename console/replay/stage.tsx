/** The graph of then, with what is marked on it. */
import type { Frame } from './frame.ts'

interface Props {
  frame: Frame
  selected: string | null
  onSelect: (id: string | null) => void
}

export function Stage({ frame, selected, onSelect }: Props) {
  return (
    <ul>
      {[...frame.graph.nodes, ...frame.graph.edges].map(({ id }) => (
        <li key={id}>
          <button type="button" aria-pressed={id === selected} onClick={() => onSelect(id)}>
            {id} {frame.marks.lit.has(id) ? '*' : ''} {frame.marks.notes.get(id)?.text}
          </button>
        </li>
      ))}
    </ul>
  )
}
