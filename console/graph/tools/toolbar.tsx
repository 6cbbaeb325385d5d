/** What can be done with the drawing as a whole. */
import { ActionIcon, Button, Group, Tooltip } from '@mantine/core'
import { useReactFlow } from '@xyflow/react'
import { Expand, List, Route, Scan, Shrink, ZoomIn, ZoomOut } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Canvas } from '../canvas.ts'
import { FIT } from '../hands/use-refit.ts'
import { ExportMenu } from './export-menu.tsx'
import { GraphSearch } from './graph-search.tsx'
import { GroupsMenu } from './groups-menu.tsx'

export function Toolbar({ canvas, tools }: { canvas: Canvas; tools: ReactNode }) {
  const flow = useReactFlow()
  const { view, setView } = canvas
  return (
    <Group gap={6} className="graph-toolbar" role="toolbar" aria-label="Graph tools">
      <GraphSearch canvas={canvas} />
      <Toggle
        label="Outline"
        hint="The graph as a list"
        icon={<List size={14} aria-hidden />}
        on={view.outline}
        onClick={() => setView({ outline: !view.outline })}
      />
      <Toggle
        label="Focus path"
        hint="Fades all that is not up- or downstream of what is selected"
        icon={<Route size={14} aria-hidden />}
        on={view.focusPath}
        onClick={() => setView({ focusPath: !view.focusPath })}
      />
      <GroupsMenu canvas={canvas} />
      <ExportMenu canvas={canvas} />
      {tools}
      <Group gap={4} ml="auto" wrap="nowrap">
        <Icon label="Zoom out" onClick={() => void flow.zoomOut()}>
          <ZoomOut size={15} aria-hidden />
        </Icon>
        <Icon label="Zoom in" onClick={() => void flow.zoomIn()}>
          <ZoomIn size={15} aria-hidden />
        </Icon>
        <Icon label="Fit the graph into view" onClick={() => void flow.fitView(FIT)}>
          <Scan size={15} aria-hidden />
        </Icon>
        <Icon
          label={view.full ? 'Leave full screen' : 'Full screen'}
          onClick={() => setView({ full: !view.full })}
        >
          {view.full ? <Shrink size={15} aria-hidden /> : <Expand size={15} aria-hidden />}
        </Icon>
      </Group>
    </Group>
  )
}

function Toggle(props: { label: string; hint: string; icon: ReactNode; on: boolean; onClick(): void }) {
  return (
    <Tooltip label={props.hint} multiline maw={230}>
      <Button
        size="xs"
        variant={props.on ? 'light' : 'default'}
        leftSection={props.icon}
        aria-pressed={props.on}
        onClick={props.onClick}
      >
        {props.label}
      </Button>
    </Tooltip>
  )
}

function Icon({ label, onClick, children }: { label: string; onClick(): void; children: ReactNode }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={30} aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  )
}
