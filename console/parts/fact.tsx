/** A fact in a small box. */
import { Paper, Skeleton, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** @param children what is known; undefined while it is read: a line is kept for it, so that nothing below moves */
export function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="sm" radius="md" style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text component="div" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {children === undefined ? <Skeleton h="1lh" w="60%" /> : children}
      </Text>
    </Paper>
  )
}
