/** A source, its events today and the last one. */
import { Cable } from 'lucide-react'
import { memo } from 'react'
import { LiveLine } from '../marks/live-line.tsx'
import { Frame, type PartNode } from './frame.tsx'

export const SourceNode = memo(function SourceNode({ data }: PartNode) {
  const node = data.drawn.node!
  return (
    <Frame facts={data} node={node} icon={Cable}>
      <LiveLine node={node} never="no event yet" />
    </Frame>
  )
})
