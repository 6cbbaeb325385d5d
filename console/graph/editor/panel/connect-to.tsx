/** Connects a part from its panel, for who works by keys: only what it can lead to is offered. */
import { Select } from '@mantine/core'
import type { GraphNode } from '../../../../schemas/types.ts'
import { KIND_WORDS } from '../../../lib/fields.ts'
import { refusal } from '../../draft/connect.ts'
import type { Actions } from '../state/use-actions.ts'
import type { Editor } from '../state/use-editor.ts'

const KINDS = ['trigger', 'agent', 'mcp_server'] as const

/** Nothing where it can lead to no part. An agent hands over on the first of its verdicts that is free. */
export function ConnectTo({
  editor: { graph },
  actions,
  node,
}: {
  editor: Editor
  actions: Actions
  node: GraphNode
}) {
  const connectionTo = (to: string) => ({ from: node.id, to, verdict: null })
  const targets = KINDS.map((kind) => ({
    group: KIND_WORDS[kind]!.many,
    items: graph.nodes
      .filter((one) => one.kind === kind && refusal(graph, connectionTo(one.id)) === null)
      .map(({ id, name }) => ({ value: id, label: name })),
  })).filter(({ items }) => items.length > 0)
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
