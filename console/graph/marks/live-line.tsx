/** "12 events today · 3m ago". */
import { useContext } from 'react'
import type { GraphNode } from '../../../schemas/types.ts'
import { todayWords } from '../words.ts'
import { Ago, KnowsNeverContext } from './instant.tsx'

export function LiveLine({ node, never }: { node: GraphNode; never: string }) {
  const today = todayWords(node)
  const knowsNever = useContext(KnowsNeverContext)
  return (
    <div className="graph-node-live">
      {today && <span>{today}</span>}
      {node.last_at ? <Ago at={node.last_at} /> : knowsNever && <span>{never}</span>}
    </div>
  )
}
