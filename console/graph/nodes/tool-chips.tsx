/** The MCP servers an agent uses, as chips inside it: how many of them, or by name while one edits. */
import { Wrench } from 'lucide-react'
import { useContext } from 'react'
import type { GraphNode } from '../../../schemas/types.ts'
import { HandsContext } from '../marks/instant.tsx'
import { NODE_DRAG_TYPE } from '../types.ts'
import { toolWords } from '../words.ts'

/** Named in a node; of more the number is told. */
const NAMED = 1

interface Props {
  tools: readonly GraphNode[]
  /** Id of its node. */
  agent: string
  /** Only how many. */
  isShort: boolean
}

export function ToolChips({ tools, agent, isShort }: Props) {
  const hands = useContext(HandsContext)
  if (tools.length === 0) return null
  const bad = tools.some(({ health }) => health === 'attention')
  if (isShort)
    return (
      <span className="graph-tool" data-bad={bad} title={toolWords(tools) ?? ''}>
        <Wrench size={11} aria-hidden />
        <span className="graph-hidden">Tools:</span> {tools.length}
      </span>
    )
  return (
    <span className="graph-tools">
      {tools.slice(0, NAMED).map(({ id, name }) => (
        <button
          key={id}
          type="button"
          className="graph-tool nodrag"
          aria-label={`Tool ${name}`}
          title={`${name}: drag it to another agent, or open it`}
          draggable
          onDragStart={(event) => {
            event.dataTransfer.setData(NODE_DRAG_TYPE, id)
            event.dataTransfer.effectAllowed = 'copy'
          }}
          onClick={(event) => {
            event.stopPropagation()
            hands.openTool(agent, id)
          }}
          onKeyDown={(event) => event.key === 'Enter' && event.stopPropagation()}
        >
          <Wrench size={11} aria-hidden /> {name}
        </button>
      ))}
      {tools.length > NAMED && (
        <span className="graph-tool" title={toolWords(tools) ?? ''}>
          +{tools.length - NAMED}
        </span>
      )}
    </span>
  )
}
