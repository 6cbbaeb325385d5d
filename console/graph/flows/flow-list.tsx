/**
 * A drawing of many screens as rows, one for each trigger: the sources it watches, whom it wakes, whom they tell. A row
 * opens its own drawing. Only rows in view are in the document.
 */
import { Text, TextInput } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Filter } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { Canvas } from '../canvas.ts'
import { type Flow, flowsWith } from '../drawing/flows.ts'
import { leave } from '../hands/use-keys.ts'
import { InstantContext, InstantStore } from '../marks/instant.tsx'
import { FlowRow } from './flow-row.tsx'

const ROW = 48

export function FlowList({ canvas }: { canvas: Canvas }) {
  const { flows, setView, marks, graph } = canvas
  const [text, setText] = useState('')
  const found = useMemo(() => flowsWith(flows, text), [flows, text])
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 4,
    getItemKey: (i) => found[i]!.id,
  })
  const [instant] = useState(() => new InstantStore(Date.parse(graph.at)))
  useEffect(() => instant.set(Date.parse(graph.at)), [instant, graph.at])
  const lit = useMemo(() => litIn(found, marks.lit), [found, marks.lit])
  // In a replay the list follows what happens.
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows is another object at each drawing.
  useEffect(() => {
    if (lit >= 0) rows.scrollToIndex(lit, { align: 'auto' })
  }, [lit])
  const walk = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.key === 'Escape') {
      if (leave(canvas)) event.stopPropagation()
      return
    }
    const at = Number((event.target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset.index)
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const to = at + by
    if (by === 0 || Number.isNaN(at) || to < 0 || to >= found.length) return
    event.preventDefault()
    rows.scrollToIndex(to, { align: 'auto' })
    focusRow(box.current, to, 20)
  }
  return (
    <div className="graph-flows">
      <div className="graph-flows-head">
        <TextInput
          size="xs"
          aria-label="Filter flows"
          placeholder="Filter by any name"
          leftSection={<Filter size={13} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Text size="xs" c="dimmed" role="status">
          {found.length === flows.length
            ? `${flows.length} flows, the last to fire first`
            : `${found.length} of ${flows.length} flows`}
        </Text>
      </div>
      {found.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          No flows match. Remove a word to see more.
        </Text>
      ) : (
        // biome-ignore lint/a11y/noStaticElementInteractions: keys bubble up from the rows, which are focused.
        <div ref={box} className="graph-flows-rows" onKeyDown={walk}>
          <InstantContext value={instant}>
            {/* biome-ignore lint/a11y/useSemanticElements: rows stand at places of their own. */}
            <div role="list" aria-label="Flows" style={{ height: rows.getTotalSize(), position: 'relative' }}>
              {rows.getVirtualItems().map((item) => (
                <FlowRow
                  key={item.key}
                  index={item.index}
                  top={item.start}
                  flow={found[item.index]!}
                  canvas={canvas}
                  onOpen={(id) => setView({ flow: id })}
                />
              ))}
            </div>
          </InstantContext>
        </div>
      )}
    </div>
  )
}

/** The first row that something happens in; -1: none. */
const litIn = (flows: readonly Flow[], lit: ReadonlySet<string>): number =>
  lit.size === 0 ? -1 : flows.findIndex(({ ids }) => [...lit].some((id) => ids.has(id)))

/** A row that was out of sight is drawn a frame or two later. */
function focusRow(box: HTMLElement | null, index: number, frames: number): void {
  const row = box?.querySelector<HTMLElement>(`[data-index="${index}"] button`)
  if (row) row.focus({ preventScroll: true })
  else if (frames) requestAnimationFrame(() => focusRow(box, index, frames - 1))
}
