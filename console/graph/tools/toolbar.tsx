/** What can be done with the drawing as a whole. */
import { ActionIcon, Button, Group } from '@mantine/core'
import { useReactFlow } from '@xyflow/react'
import {
  ArrowLeft,
  Expand,
  LayoutDashboard,
  List,
  Route,
  Rows3,
  Scan,
  Shrink,
  ZoomIn,
  ZoomOut,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { Tooltip } from '../../parts/tooltip.tsx'
import type { Canvas } from '../canvas.ts'
import { FLOWS_FROM } from '../drawing/flows.ts'
import { useFitNow } from '../hands/use-fit.ts'
import { ExportMenu } from './export-menu.tsx'
import { GraphSearch } from './graph-search.tsx'
import { GroupsMenu } from './groups-menu.tsx'

export function Toolbar({ canvas, tools }: { canvas: Canvas; tools: ReactNode }) {
  const { view, setView, isListed, flows, screens, selected, onTidy, mode } = canvas
  const isEdited = mode === 'edit'
  return (
    <Group gap={6} className="graph-toolbar" role="toolbar" aria-label="Graph tools">
      {view.flow !== null && !isListed && flows.length > 0 && (
        <Button
          size="xs"
          variant="default"
          leftSection={<ArrowLeft size={14} aria-hidden />}
          onClick={() => setView({ flow: null })}
        >
          All {flows.length} flows
        </Button>
      )}
      <GraphSearch canvas={canvas} />
      <Toggle
        label="Outline"
        hint="The graph as a list"
        icon={<List size={14} aria-hidden />}
        on={view.outline}
        onClick={() => setView({ outline: !view.outline })}
      />
      {screens > FLOWS_FROM && (
        <Toggle
          label="Flows"
          hint="One row per trigger: its sources, the agents it wakes and the addresses it notifies"
          icon={<Rows3 size={14} aria-hidden />}
          on={view.flows ?? true}
          onClick={() => setView({ flows: !(view.flows ?? true), flow: null })}
        />
      )}
      {!isListed && (
        <Toggle
          label="Focus path"
          hint="Fades all that is not up- or downstream of what is selected"
          icon={<Route size={14} aria-hidden />}
          on={view.focusPath}
          onClick={() => setView({ focusPath: !view.focusPath })}
        />
      )}
      {!isListed && mode === 'live' && <GroupsMenu canvas={canvas} />}
      {onTidy && !isListed && view.flow === null && (
        <Tooltip label="Lays out again what was put by hand: what is selected, or all" maw={230}>
          <Button
            size="xs"
            variant="default"
            leftSection={<LayoutDashboard size={14} aria-hidden />}
            onClick={() => {
              canvas.fitNext.current = true
              onTidy(selected.length ? selected : undefined)
            }}
          >
            Tidy up
          </Button>
        </Tooltip>
      )}
      {!isEdited && <ExportMenu canvas={canvas} />}
      {tools}
      {!isListed && <Zoom canvas={canvas} />}
    </Group>
  )
}

function Zoom({ canvas }: { canvas: Canvas }) {
  const flow = useReactFlow()
  const fit = useFitNow(canvas)
  const { view, setView, mode } = canvas
  return (
    <Group gap={4} ml="auto" wrap="nowrap">
      <Icon label="Zoom out" onClick={() => void flow.zoomOut()}>
        <ZoomOut size={15} aria-hidden />
      </Icon>
      <Icon label="Zoom in" onClick={() => void flow.zoomIn()}>
        <ZoomIn size={15} aria-hidden />
      </Icon>
      <Icon label="Fit the graph into view" onClick={fit}>
        <Scan size={15} aria-hidden />
      </Icon>
      {mode !== 'edit' && (
        <Icon
          label={view.full ? 'Leave full screen' : 'Full screen'}
          onClick={() => setView({ full: !view.full })}
        >
          {view.full ? <Shrink size={15} aria-hidden /> : <Expand size={15} aria-hidden />}
        </Icon>
      )}
    </Group>
  )
}

function Toggle(props: { label: string; hint: string; icon: ReactNode; on: boolean; onClick(): void }) {
  return (
    <Tooltip label={props.hint} maw={230}>
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
