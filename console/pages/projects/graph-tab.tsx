/** The project as a graph, as it is now. */
import { Anchor, Button, Group, Skeleton, Text } from '@mantine/core'
import { useCallback, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { GraphNode, ProjectGraph } from '../../../schemas/types.ts'
import { GraphCanvas } from '../../graph/graph-canvas.tsx'
import { useLiveGraph } from '../../graph/use-live-graph.ts'
import { Empty, Failed } from '../../parts/states.tsx'

export default function GraphTab({ id }: { id: string }) {
  const { query, marks } = useLiveGraph(id)
  const { data: graph, error, isPending, refetch } = query
  const [selected, setSelected] = useState<readonly string[]>([])
  const navigate = useNavigate()
  const open = useCallback(
    (of: string) => {
      const node = graph?.nodes.find((each) => each.id === of)
      const page = node && pageOf(node)
      if (page) void navigate(page)
    },
    [graph, navigate],
  )
  if (isPending) return <Skeleton h="70vh" role="status" aria-label="Loading the graph" />
  // A look that failed leaves the one before on the screen; the shell says when the daemon is away.
  if (!graph)
    return <Failed error={error ?? new Error('There is no graph.')} onRetry={() => void refetch()} />
  if (!graph.nodes.length) return <NothingYet graph={graph} />
  return (
    <GraphCanvas
      graph={graph}
      label={`Graph of ${graph.project.name}`}
      marks={marks}
      selected={selected}
      onSelect={setSelected}
      onOpen={open}
    />
  )
}

const PAGES: Partial<Record<GraphNode['kind'], string>> = {
  source: '/sources',
  trigger: '/triggers',
  agent: '/agents',
  mcp_server: '/mcp-servers',
  skill: '/skills',
}

/** Where a node is told in full; null: it has no page, or is not there. */
function pageOf(node: GraphNode): string | null {
  if (node.kind === 'destination') return '/deliveries'
  return node.state === 'missing' ? null : `${PAGES[node.kind]}/${encodeURIComponent(node.name)}`
}

function NothingYet({ graph }: { graph: ProjectGraph }) {
  return (
    <Empty title={`${graph.project.name} has no parts yet`}>
      <Text size="sm" maw={520}>
        A graph starts with a source of events. A trigger watches it, and wakes an agent when it fires.
      </Text>
      <Group>
        <Button component={Link} to="/sources/new">
          Add a source
        </Button>
        <Button component={Link} to="/triggers/new" variant="default">
          Add a trigger
        </Button>
        <Button component={Link} to="/agents/new" variant="default">
          Add an agent
        </Button>
      </Group>
      <Text size="sm">
        What is there already is taken in under{' '}
        <Anchor component={Link} to="?tab=parts">
          Parts
        </Anchor>
        .
      </Text>
    </Empty>
  )
}
