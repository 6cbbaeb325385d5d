/** An MCP server, an attachment of the agents that use it. */
import { Wrench } from 'lucide-react'
import { memo } from 'react'
import { Frame, type PartNode } from './frame.tsx'

export const McpServerNode = memo(function McpServerNode({ data }: PartNode) {
  return <Frame facts={data} node={data.drawn.node!} icon={Wrench} />
})
