/** A fact in a small box. */
import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'

export function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="sm" radius="md" style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text component="div" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Paper>
  )
}
