/** Collapses kinds of nodes into one each, and the destinations of agents into their agent. */
import { Button, Menu } from '@mantine/core'
import { Group as GroupIcon } from 'lucide-react'
import { useMemo } from 'react'
import type { Canvas } from '../canvas.ts'
import { attachmentFold, attachmentsOf, countOf, FOLDABLE, kindFold, kindWords } from '../drawing/fold.ts'

export function GroupsMenu({ canvas }: { canvas: Canvas }) {
  const { graph, selected, view, setView } = canvas
  const counts = useMemo(
    () =>
      FOLDABLE.map((kind) => ({ kind, n: graph.nodes.filter((node) => node.kind === kind).length })).filter(
        ({ n }) => n > 1,
      ),
    [graph.nodes],
  )
  const attachments = useMemo(
    () => attachmentsOf({ nodes: graph.nodes, edges: graph.edges }),
    [graph.nodes, graph.edges],
  )
  const of = selected.filter((id) => attachments.has(id))
  const agents = of.length ? of : [...attachments.keys()]
  const isFolded = agents.length > 0 && agents.every((agent) => view.folded.has(attachmentFold(agent)))
  const toggle = (keys: readonly string[], fold: boolean) => {
    const folded = new Set(view.folded)
    for (const key of keys)
      if (fold) folded.add(key)
      else folded.delete(key)
    canvas.fitNext.current = true
    setView({ folded })
  }
  return (
    <Menu position="bottom-start" closeOnItemClick={false}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<GroupIcon size={14} aria-hidden />}>
          Groups
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {counts.map(({ kind, n }) => {
          const on = view.folded.has(kindFold(kind))
          return (
            <Menu.Item key={kind} onClick={() => toggle([kindFold(kind)], !on)}>
              {on ? `Show ${kindWords(kind)}` : `Collapse ${countOf(n, kind)}`}
            </Menu.Item>
          )
        })}
        {agents.length > 0 && (
          <Menu.Item onClick={() => toggle(agents.map(attachmentFold), !isFolded)}>
            {`${isFolded ? 'Show' : 'Collapse'} destinations of ${of.length ? countOf(of.length, 'agent') : 'agents'}`}
          </Menu.Item>
        )}
        <Menu.Item disabled={view.folded.size === 0} onClick={() => toggle([...view.folded], false)}>
          Show everything
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
