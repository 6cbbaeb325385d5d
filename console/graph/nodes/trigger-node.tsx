/** A trigger, its firings today and the last one. */
import { Zap } from 'lucide-react'
import { memo } from 'react'
import { LiveLine } from '../marks/live-line.tsx'
import { Frame, type PartNode } from './frame.tsx'

export const TriggerNode = memo(function TriggerNode({ data }: PartNode) {
  const node = data.drawn.node!
  return (
    <Frame facts={data} node={node} icon={Zap}>
      <LiveLine node={node} never="never fired" />
    </Frame>
  )
})
