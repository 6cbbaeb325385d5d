/** The second line of a node: what it does now, what it did by an instant, or what it is. */
import { useContext } from 'react'
import type { GraphNode } from '../../../schemas/types.ts'
import type { NodeFacts } from '../flow.ts'
import { Ago, KnowsNeverContext } from '../marks/instant.tsx'
import type { Mode, Pace } from '../types.ts'
import { spendWords, todayWords, workWords } from '../words.ts'

interface Props {
  facts: NodeFacts
  node: GraphNode
  mode: Mode
}

export function NodeLine({ facts: { note, pace }, node, mode }: Props) {
  if (mode === 'edit') return <Words text={node.detail} />
  // What it did by the instant counts more than what it did all day; in full it stands in the panel.
  if (mode === 'replay' && note) return <Words text={note.text} />
  if (node.kind === 'agent') return <AgentLine node={node} />
  return (
    <>
      {/* A trigger's sentence is longer than a node: the tooltip has it. */}
      <Words text={todayWords(node) ?? node.detail} title={node.detail} />
      {node.kind === 'source' && pace && pace.perMinute > 0 ? (
        <PaceMark pace={pace} />
      ) : (
        <LastTime node={node} />
      )}
    </>
  )
}

const NEVER: Partial<Record<GraphNode['kind'], string>> = {
  source: 'no event yet',
  trigger: 'never fired',
  destination: 'nothing sent yet',
}

function AgentLine({ node }: { node: GraphNode }) {
  const work = workWords(node)
  // Nothing spent takes the room that the verdict needs.
  const spend = node.spend_today_usd ? spendWords(node)?.replace(' today', '') : null
  const knowsNever = useContext(KnowsNeverContext)
  const today = todayWords(node) ?? (knowsNever ? 'never ran' : node.detail)
  return (
    <>
      {work ? (
        <strong className="graph-node-words">{work}</strong>
      ) : (
        <Words text={node.last_verdict ?? today} />
      )}
      <span className="graph-node-aside">
        {[!work && node.last_verdict ? today : null, spend].filter(Boolean).join(' · ')}
      </span>
    </>
  )
}

function LastTime({ node }: { node: GraphNode }) {
  const knowsNever = useContext(KnowsNeverContext)
  if (node.last_at)
    return (
      <span className="graph-node-aside">
        {node.kind === 'destination' && node.health === 'attention' && 'failed '}
        <Ago at={node.last_at} />
      </span>
    )
  const never = NEVER[node.kind]
  return knowsNever && never ? <span className="graph-node-aside">{never}</span> : null
}

const Words = ({ text, title = text }: { text: string; title?: string }) => (
  <span className="graph-node-words" title={title}>
    {text}
  </span>
)

const SPARK = { width: 40, height: 12 }

function PaceMark({ pace: { perMinute, spark } }: { pace: Pace }) {
  const top = Math.max(1, ...spark)
  const step = SPARK.width / Math.max(1, spark.length)
  return (
    <span className="graph-node-aside" title="Events per minute since this page was opened">
      {perMinute < 10 ? Math.round(perMinute * 10) / 10 : Math.round(perMinute)}/min{' '}
      <svg className="graph-spark" aria-hidden {...SPARK}>
        {spark.map((n, i) => {
          const tall = Math.max(1, (n / top) * SPARK.height)
          // biome-ignore lint/suspicious/noArrayIndexKey: a step of time is its place.
          return <rect key={i} x={i * step} y={SPARK.height - tall} width={step - 0.8} height={tall} />
        })}
      </svg>
    </span>
  )
}
