/** The project as a graph or as lists, as it is now; there it is edited, too. */
import { Skeleton, Text } from '@mantine/core'
import { useCallback, useDeferredValue } from 'react'
import { useNavigate } from 'react-router'
import type { GraphNode } from '../../../schemas/types.ts'
import { ProjectEditor } from '../../graph/editor/project-editor.tsx'
import { useLiveGraph } from '../../graph/use-live-graph.ts'
import { Empty, Failed } from '../../parts/states.tsx'

export default function GraphTab({ id }: { id: string }) {
  const { query, marks } = useLiveGraph(id)
  const { data: graph, error, isPending, refetch } = query
  const navigate = useNavigate()
  const open = useCallback(
    (of: string) => {
      const node = graph?.nodes.find((each) => each.id === of)
      const page = node && pageOf(node)
      if (page) void navigate(page)
    },
    [graph, navigate],
  )
  // Drawn the first time in slices: all of it at once is 70 ms of work (2026-11-26).
  const isDrawable = useDeferredValue(graph !== undefined)
  if (isPending || (graph && !isDrawable))
    return <Skeleton h="70vh" role="status" aria-label="Loading the graph" />
  // A look that failed leaves the one before on the screen; the shell says when the daemon is away.
  if (!graph)
    return (
      <Failed
        what="the graph"
        error={error ?? new Error('There is no graph.')}
        onRetry={() => void refetch()}
      />
    )
  return (
    <ProjectEditor
      live={graph}
      marks={marks}
      onVisit={open}
      empty={<NothingYet name={graph.project.name} />}
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

function NothingYet({ name }: { name: string }) {
  return (
    <Empty title={`${name} has no parts yet`}>
      <Text size="sm" maw={520}>
        A project starts with a source of events. A trigger watches it, and wakes an agent when it fires. Edit
        it to add them.
      </Text>
    </Empty>
  )
}
