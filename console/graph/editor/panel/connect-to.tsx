/**
 * Connects a part from its panel, which the keyboard can do, too: only parts that it can be connected to are offered,
 * those before it as well as those behind it.
 */
import { Select } from '@mantine/core'
import type { GraphNode } from '../../../../schemas/types.ts'
import { byName } from '../../../lib/by-name.ts'
import { KIND_WORDS } from '../../../lib/fields.ts'
import { refusal } from '../../draft/connect.ts'
import type { Actions } from '../state/use-actions.ts'
import type { Editor } from '../state/use-editor.ts'

const KINDS = ['source', 'trigger', 'agent', 'mcp_server'] as const

/** Options of a Select, one group for each kind that has nodes. */
export const optionsByKind = (
  nodes: readonly Pick<GraphNode, 'id' | 'kind' | 'name'>[],
  kinds: readonly GraphNode['kind'][],
) =>
  kinds
    .map((kind) => ({
      group: KIND_WORDS[kind]!.many,
      items: byName(nodes.filter((node) => node.kind === kind)).map(({ id, name }) => ({
        value: id,
        label: name,
      })),
    }))
    .filter(({ items }) => items.length > 0)

/** Renders nothing if the part can be connected to no other. On which verdict an agent hands over is asked. */
export function ConnectTo({
  editor: { graph },
  actions,
  node,
}: {
  editor: Editor
  actions: Actions
  node: GraphNode
}) {
  // Wires run one way: what it cannot lead to may lead to it.
  const connectionTo = (other: string) => {
    const [on, back] = [
      { from: node.id, to: other, verdict: null },
      { from: other, to: node.id, verdict: null },
    ]
    return refusal(graph, on) !== null && refusal(graph, back) === null ? back : on
  }
  const targets = optionsByKind(
    graph.nodes.filter(({ id }) => refusal(graph, connectionTo(id)) === null),
    KINDS,
  )
  if (targets.length === 0) return null
  return (
    <Select
      label="Connect to"
      placeholder="Choose a part"
      data={targets}
      value={null}
      onChange={(to) => {
        if (to !== null) actions.connect(connectionTo(to))
      }}
      searchable
    />
  )
}
