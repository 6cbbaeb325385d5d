/** The graph as a nested list: a panel beside the drawing, or, while that is closed, for screen readers. */
import { Switch } from '@mantine/core'
import { MiniMap } from '@xyflow/react'
import { memo, useCallback, useMemo, useRef } from 'react'
import type { ProjectGraph } from '../../../schemas/types.ts'
import type { Canvas } from '../canvas.ts'
import { type OutlineItem, outlineOf } from '../drawing/outline.ts'
import type { FlowNode } from '../flow.ts'
import { describeEdge, nodeTitle } from '../words.ts'
import { useShow } from './use-show.ts'

export function GraphOutline({ canvas }: { canvas: Canvas }) {
  const { graph, view, onOpen } = canvas
  const key = outlineKey(graph)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key holds all that the outline says.
  const items = useMemo(() => outlineOf(graph), [key])
  const show = useShow(canvas)
  const latest = useRef(onOpen)
  latest.current = onOpen
  const open = useCallback((id: string) => latest.current?.(id), [])
  const shown = view.outline
  const chosen = useMemo(() => new Set(canvas.selected), [canvas.selected])
  return (
    <nav className={shown ? 'graph-outline' : 'graph-hidden'} aria-label={`Outline of ${canvas.label}`}>
      {shown && canvas.screens > OVERVIEW_FROM && !canvas.isListed && <Overview canvas={canvas} />}
      {items.length > 0 && (
        <Items
          items={items}
          chosen={shown ? chosen : null}
          onShow={shown ? show : null}
          onOpen={shown && onOpen ? open : undefined}
        />
      )}
    </nav>
  )
}

/** Over so many screens of drawing there is an overview of it. */
const OVERVIEW_FROM = 4
const miniName = (node: FlowNode): string => `mini-${node.type}`

/** The drawing in small, docked where it covers nothing; off until it is asked for. */
function Overview({ canvas: { view, setView } }: { canvas: Canvas }) {
  return (
    <div className="graph-overview">
      <Switch
        size="xs"
        label="Overview"
        checked={view.overview}
        onChange={(event) => setView({ overview: event.currentTarget.checked })}
      />
      {view.overview && (
        <MiniMap<FlowNode>
          pannable
          ariaLabel="Overview of the graph"
          nodeClassName={miniName}
          nodeBorderRadius={8}
        />
      )}
    </div>
  )
}

/** Equal keys have equal outlines: what a project does does not change how it is wired. */
const outlineKey = ({ nodes, edges }: ProjectGraph): string =>
  JSON.stringify([
    nodes.map((node) => [node.id, node.name, node.state]),
    edges.map((edge) => [edge.id, edge.enabled, edge.cooldown, edge.all]),
  ])

interface Choices {
  chosen: ReadonlySet<string> | null
  /** Null: the list is only read. */
  onShow: ((id: string) => void) | null
  onOpen?: ((id: string) => void) | undefined
}

const Items = memo(function Items({ items, ...choices }: { items: readonly OutlineItem[] } & Choices) {
  return (
    <ul>
      {items.map((item) => (
        <Item key={item.key} item={item} {...choices} />
      ))}
    </ul>
  )
})

function Item({ item, chosen, onShow, onOpen }: { item: OutlineItem } & Choices) {
  const { node, via, again } = item
  const words = via
    ? describeEdge({ ...via, today: null }, (id) => (id === node.id ? nodeTitle(node) : '')).trim()
    : nodeTitle(node)
  const isToldOff = node.state === 'off' && via?.enabled === false
  const state = node.state === 'active' || isToldOff ? '' : `, ${node.state}`
  const said = `${words}${state}${again ? ' (see above)' : ''}`
  return (
    <li>
      {onShow ? (
        <span className="graph-outline-row">
          <button
            type="button"
            className="text-button"
            aria-pressed={chosen?.has(node.id) ?? false}
            onClick={() => onShow(node.id)}
          >
            {said}
          </button>
          {onOpen && !again && (
            <button
              type="button"
              className="text-button graph-outline-open"
              aria-label={`Open ${nodeTitle(node)}`}
              onClick={() => onOpen(node.id)}
            >
              Open
            </button>
          )}
        </span>
      ) : (
        said
      )}
      {item.children.length > 0 && (
        <Items items={item.children} chosen={chosen} onShow={onShow} onOpen={onOpen} />
      )}
    </li>
  )
}
