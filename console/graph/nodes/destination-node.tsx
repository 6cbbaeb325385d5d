/** Where firings and findings are sent, and when that last was. */
import { Send } from 'lucide-react'
import { memo } from 'react'
import { LiveLine } from '../marks/live-line.tsx'
import { Frame, type PartNode } from './frame.tsx'

export const DestinationNode = memo(function DestinationNode({ data }: PartNode) {
  const node = data.drawn.node!
  return (
    <Frame facts={data} node={node} icon={Send}>
      <LiveLine node={node} never="nothing sent yet" />
    </Frame>
  )
})
