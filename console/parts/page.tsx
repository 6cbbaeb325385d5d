/** Heading of a page with its actions; sets the document's title. */
import { Group, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

export function PageHead({ title, children }: { title: string; children?: ReactNode }) {
  useDocumentTitle(`${title} · svc`)
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <Title order={1} style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      <Group gap="xs">{children}</Group>
    </Group>
  )
}
