/**
 * Under the drawing: parts that nothing leads to or from, and the skills, which every agent sees. While one edits, a
 * part is wired by dragging it onto another, or by the menu that its chip opens, which the keyboard opens, too.
 */
import { Menu } from '@mantine/core'
import { Cable, LayoutGrid, Pencil } from 'lucide-react'
import { type DragEvent, useMemo } from 'react'
import type { GraphNode } from '../../../schemas/types.ts'
import type { Canvas } from '../canvas.ts'
import { kindWord } from '../drawing/fold.ts'
import { wiringOf } from '../hands/wiring.ts'
import { KIND_ICONS } from '../nodes/icons.ts'
import { type GraphEditing, NODE_DRAG_TYPE } from '../types.ts'
import { CHANGE_WORDS, describeNode } from '../words.ts'

/** Chips of each kind at most: more are found by name. */
const SHOWN_MAX = 60
/** Parts that one is offered to be wired with. */
const OFFERED_MAX = 30

export function Strip({ canvas }: { canvas: Canvas }) {
  const { loose, skills } = canvas
  if (loose.length + skills.length === 0) return null
  return (
    <section className="graph-strip" aria-label="Not in the drawing">
      <Chips title="Not connected" nodes={loose} canvas={canvas} />
      <Chips title="Skills, seen by every agent" nodes={skills} canvas={canvas} />
    </section>
  )
}

function Chips({ title, nodes, canvas }: { title: string; nodes: readonly GraphNode[]; canvas: Canvas }) {
  if (nodes.length === 0) return null
  return (
    <>
      <span className="graph-strip-title">
        {title}: {nodes.length}
      </span>
      <ul aria-label={title}>
        {nodes.slice(0, SHOWN_MAX).map((node) => (
          <li key={node.id}>
            <Chip node={node} canvas={canvas} />
          </li>
        ))}
        {nodes.length > SHOWN_MAX && <li className="graph-strip-more">{nodes.length - SHOWN_MAX} more</li>}
      </ul>
    </>
  )
}

function Chip({ node, canvas }: { node: GraphNode; canvas: Canvas }) {
  const { editing, selected, marks, graph, onOpen, onSelect, mode } = canvas
  const Icon = KIND_ICONS[node.kind]
  const change = marks.changes.get(node.id)
  const words = [describeNode(node, Date.parse(graph.at)), change && `${CHANGE_WORDS[change]} in the draft`]
  const isWirable = editing !== undefined && node.kind !== 'skill' && change !== 'deleted'
  const chip = {
    type: 'button' as const,
    className: 'graph-strip-chip',
    'data-kind': node.kind,
    'data-change': change,
    'data-node': node.id,
    'data-lit': marks.lit.has(node.id),
    'aria-label': words.filter(Boolean).join(', '),
    'aria-current': selected.includes(node.id) ? ('true' as const) : undefined,
    title: `${kindWord(node.kind)} ${node.name}`,
    onFocus: () => isWirable && onSelect([node.id]),
  }
  const face = (
    <>
      <Icon size={13} strokeWidth={1.7} aria-hidden /> <span>{node.name}</span>
    </>
  )
  if (!isWirable)
    return (
      <button
        {...chip}
        onClick={() => (mode === 'replay' || !onOpen ? onSelect([node.id]) : onOpen(node.id))}
      >
        {face}
      </button>
    )
  return (
    <Menu position="top-start" withinPortal>
      <Menu.Target>
        <button {...chip} draggable onDragStart={carry(node.id)}>
          {face}
        </button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        <WireItems node={node} canvas={canvas} editing={editing} />
      </Menu.Dropdown>
    </Menu>
  )
}

const carry = (id: string) => (event: DragEvent) => {
  event.dataTransfer.setData(NODE_DRAG_TYPE, id)
  event.dataTransfer.effectAllowed = 'copy'
}

/** What a part can be done with: its fields, a place in the drawing, and each part that it may be wired to. */
function WireItems({ node, canvas, editing }: { node: GraphNode; canvas: Canvas; editing: GraphEditing }) {
  const { graph, onOpen, layout } = canvas
  const offered = useMemo(
    () =>
      graph.nodes
        .filter(({ id }) => id !== node.id && editing.refusal(wiringOf(node.id, id)) === null)
        .slice(0, OFFERED_MAX),
    [graph.nodes, node.id, editing],
  )
  return (
    <>
      <Menu.Item leftSection={<Pencil size={14} aria-hidden />} onClick={() => onOpen?.(node.id)}>
        Edit {node.name}
      </Menu.Item>
      {node.kind !== 'mcp_server' && (
        <Menu.Item
          leftSection={<LayoutGrid size={14} aria-hidden />}
          onClick={() => editing.onPlace(node.id, free(layout.boxes))}
        >
          Put into the drawing
        </Menu.Item>
      )}
      <Menu.Label>{offered.length ? 'Connect with' : 'Nothing it can be connected with'}</Menu.Label>
      {offered.map((other) => (
        <Menu.Item
          key={other.id}
          leftSection={<Cable size={14} aria-hidden />}
          onClick={() => editing.onConnect(wiringOf(node.id, other.id))}
        >
          {kindWord(other.kind)} {other.name}
        </Menu.Item>
      ))}
    </>
  )
}

/** Under all that is drawn. */
function free(boxes: Canvas['layout']['boxes']): { x: number; y: number } {
  const all = [...boxes.values()]
  return {
    x: Math.min(0, ...all.map(({ x }) => x)),
    y: Math.max(0, ...all.map(({ y, height }) => y + height + 16)),
  }
}
