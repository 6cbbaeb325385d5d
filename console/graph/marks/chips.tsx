/** Small marks on the rim of a node: what a draft does to it, its state, who else uses it. */
import { FolderKanban, Minus, Pencil, PenLine, Plus } from 'lucide-react'
import type { GraphNode } from '../../../schemas/types.ts'
import type { Change, NodeFacts } from '../flow.ts'
import { sharedWords } from '../words.ts'

const CHANGES: Record<Change, { icon: typeof Plus; word: string }> = {
  created: { icon: Plus, word: 'Added' },
  changed: { icon: PenLine, word: 'Changed' },
  deleted: { icon: Minus, word: 'Removed' },
}
const STATES = { paused: 'Paused', off: 'Off', missing: 'Missing' } as const
const OFF_HINTS = {
  paused: 'Paused',
  off: 'Not connected',
  missing: 'Named here, but does not exist',
}

export function ChangeChip({ change }: { change: Change }) {
  const { icon: Icon, word } = CHANGES[change]
  return (
    <span className="graph-chip" data-change={change}>
      <Icon size={11} aria-hidden /> {word}
    </span>
  )
}

export function Chips({ facts, node }: { facts: NodeFacts; node: GraphNode }) {
  const { change, drawn } = facts
  return (
    <div className="graph-chips">
      {change && <ChangeChip change={change} />}
      {node.state !== 'active' && (
        <span className="graph-chip" data-state={node.state} title={OFF_HINTS[node.state]}>
          {STATES[node.state]}
        </span>
      )}
      {node.customized && (
        <span className="graph-chip" title="Edited by hand since its template planned it">
          <Pencil size={11} aria-hidden />
          <span className="graph-hidden">Customized</span>
        </span>
      )}
      {node.shared_with.length > 0 && (
        <span className="graph-chip" title={sharedWords(node)}>
          <FolderKanban size={11} aria-hidden />
          <span className="graph-hidden">Shared, projects besides this one:</span> +{node.shared_with.length}
        </span>
      )}
      {drawn.hidden > 0 && <span className="graph-chip">{drawn.hidden} collapsed</span>}
    </div>
  )
}
