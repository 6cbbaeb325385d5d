/** The component of each kind of node. */
import { AgentNode } from './agent-node.tsx'
import { DestinationNode } from './destination-node.tsx'
import { GroupNode } from './group-node.tsx'
import { McpServerNode } from './mcp-server-node.tsx'
import { SkillNode } from './skill-node.tsx'
import { SourceNode } from './source-node.tsx'
import { TriggerNode } from './trigger-node.tsx'

export const NODE_TYPES = {
  source: SourceNode,
  trigger: TriggerNode,
  agent: AgentNode,
  mcp_server: McpServerNode,
  skill: SkillNode,
  destination: DestinationNode,
  group: GroupNode,
}
