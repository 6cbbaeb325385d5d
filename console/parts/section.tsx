/** A part of a page under a heading of its own. */
import { Group, Title } from '@mantine/core'
import type { ReactNode } from 'react'

export function Section({
  title,
  aside,
  children,
}: {
  title: string
  /** Actions beside the heading. */
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <section aria-label={title}>
      <Group justify="space-between" mb="xs" gap="sm">
        <Title order={2}>{title}</Title>
        {aside}
      </Group>
      {children}
    </section>
  )
}
