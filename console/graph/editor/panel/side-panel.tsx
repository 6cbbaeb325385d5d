/** The panel beside the drawing. */
import { Button, Group, Paper } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { isOutermost } from '../../../lib/escape.ts'

/** It takes the focus when it opens, and gives it back when it closes. */
export function SidePanel({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const root = useRef<HTMLElement>(null)
  useEffect(() => {
    const before = document.activeElement
    if (!root.current?.contains(before)) root.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <Paper
      withBorder
      radius="md"
      p="sm"
      component="section"
      aria-label="Edit what is selected"
      className="editor-panel"
      ref={root}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isOutermost(event)) onClose()
      }}
    >
      <Group justify="flex-end">
        <Button size="compact-xs" variant="subtle" onClick={onClose}>
          Close
        </Button>
      </Group>
      {children}
    </Paper>
  )
}
