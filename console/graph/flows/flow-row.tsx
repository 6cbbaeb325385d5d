/** One flow: sources, trigger, agents and destinations by name, with what its trigger did today. */
import { ChevronRight } from 'lucide-react'
import type { GraphNode } from '../../../schemas/types.ts'
import type { Canvas } from '../canvas.ts'
import type { Flow } from '../drawing/flows.ts'
import { Ago } from '../marks/instant.tsx'
import { KIND_ICONS } from '../nodes/icons.ts'
import type { NodeKind } from '../types.ts'
import { describeNode, todayWords } from '../words.ts'

interface Props {
  flow: Flow
  index: number
  /** In pixels. */
  top: number
  canvas: Canvas
  onOpen(id: string): void
}

export function FlowRow({ flow, index, top, canvas, onOpen }: Props) {
  const { marks, graph, selected } = canvas
  const { trigger, sources, agents, destinations, ids } = flow
  const changed = [...marks.changes.keys()].filter((id) => ids.has(id)).length
  const isLit = [...marks.lit].some((id) => ids.has(id))
  const isChosen = selected.some((id) => ids.has(id))
  const note = trigger && marks.notes.get(trigger.id)
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows stand at places of their own.
    <div
      role="listitem"
      className="graph-flow-row"
      data-index={index}
      data-lit={isLit}
      data-chosen={isChosen}
      style={{ transform: `translateY(${top}px)` }}
    >
      <button
        type="button"
        aria-label={wordsOf(flow, Date.parse(graph.at), changed)}
        onClick={() => onOpen(flow.id)}
      >
        <Names kind="source" nodes={sources} />
        <ChevronRight size={14} aria-hidden />
        <span className="graph-flow-trigger">
          <Names kind="trigger" nodes={trigger ? [trigger] : []} />
          <span className="graph-flow-aside">
            {changed > 0 && <span className="graph-chip">{changed} changed</span>}{' '}
            {note?.text ?? (trigger && didToday(trigger))}
          </span>
        </span>
        <ChevronRight size={14} aria-hidden />
        <Names kind="agent" nodes={agents} />
        <ChevronRight size={14} aria-hidden />
        <Names kind="destination" nodes={destinations} />
      </button>
    </div>
  )
}

function didToday(trigger: GraphNode) {
  if (trigger.today) return todayWords(trigger)
  return trigger.last_at ? <Ago at={trigger.last_at} /> : 'never fired'
}

/** Names in a column; of more the number is told. */
const NAMED = 2
/** Letters. */
const TAIL = 9

function Names({ kind, nodes }: { kind: NodeKind; nodes: readonly GraphNode[] }) {
  const Icon = KIND_ICONS[kind]
  const text = nodes
    .slice(0, NAMED)
    .map(({ name }) => name)
    .join(', ')
  // Names that begin alike differ at their end, which is never cut.
  const end = nodes.length === 1 ? -TAIL : text.length
  const bad = nodes.some(({ health }) => health === 'attention')
  if (nodes.length === 0) return <span className="graph-flow-names">–</span>
  return (
    <span className="graph-flow-names" data-kind={kind} title={nodes.map(({ name }) => name).join(', ')}>
      <Icon size={15} strokeWidth={1.7} aria-hidden />
      <span className="graph-flow-name">
        <span className="graph-flow-cut">{text.slice(0, end)}</span>
        {text.slice(end)}
      </span>
      {nodes.length > NAMED && <span className="graph-flow-more">+{nodes.length - NAMED}</span>}
      {bad && <span className="graph-health" data-health="attention" />}
    </span>
  )
}

function wordsOf({ trigger, sources, agents, destinations }: Flow, now: number, changed: number): string {
  const list = (word: string, nodes: readonly GraphNode[]): string | null =>
    nodes.length ? `${word} ${nodes.map(({ name }) => name).join(', ')}` : null
  return [
    trigger ? describeNode(trigger, now) : 'No trigger',
    list('fed by', sources),
    list('wakes', agents),
    list('tells', destinations),
    changed ? `${changed} changed in the draft` : null,
  ]
    .filter(Boolean)
    .join('; ')
}
