/** The component of each kind of node. */
import { GroupNode } from './group-node.tsx'
import { PartNode } from './part-node.tsx'

export const NODE_TYPES = {
  source: PartNode,
  trigger: PartNode,
  agent: PartNode,
  destination: PartNode,
  group: GroupNode,
}
