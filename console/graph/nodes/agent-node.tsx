/** An agent: what it is at, what it spent today, and a handle for each verdict it may give. */
import { Bot } from 'lucide-react'
import { memo } from 'react'
import { Ago } from '../marks/instant.tsx'
import { spendWords, todayWords, workWords } from '../words.ts'
import { Frame, type PartNode } from './frame.tsx'

export const AgentNode = memo(function AgentNode({ data }: PartNode) {
  const node = data.drawn.node!
  const work = workWords(node)
  const spend = spendWords(node)
  return (
    <Frame facts={data} node={node} icon={Bot}>
      <div className="graph-node-live">
        {work ? <strong>{work}</strong> : <span>{todayWords(node) ?? 'never ran'}</span>}
        {!work && node.last_at && <Ago at={node.last_at} />}
        {spend && <span>{spend.replace(' today', '')}</span>}
      </div>
      {node.running > 0 && <div className="graph-working" aria-hidden />}
      {node.verdicts.length > 0 && (
        <ul className="graph-verdicts" aria-label="Verdicts">
          {node.verdicts.map((verdict) => (
            <li key={verdict} title={`Verdict ${verdict}`}>
              {verdict}
            </li>
          ))}
        </ul>
      )}
    </Frame>
  )
})
