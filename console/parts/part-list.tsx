/** A list of parts of one kind, each with what it is and the projects that use it. */
import { Badge, Button, Group, Paper, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { declared, dkeys } from '../declared-client.ts'
import { partPath } from '../lib/fields.ts'
import { PageHead } from './page.tsx'
import { Empty, Failed, LoadingRows } from './states.tsx'

interface Part {
  name: string
  projects: readonly string[]
  customized: boolean
}

interface Props<T extends Part> {
  kind: string
  title: string
  /** Address of the form that makes one, and what its button says. */
  add: { to: string; label: string }
  parts: readonly T[] | undefined
  error: Error | null
  onRetry: () => void
  /** What a part is, in plain words. */
  what: (part: T) => ReactNode
  /** Its state, on the right. */
  state: (part: T) => ReactNode
  /** What to say when there is none. */
  empty: string
}

export function PartListPage<T extends Part>({
  kind,
  title,
  add,
  parts,
  error,
  onRetry,
  what,
  state,
  empty,
}: Props<T>) {
  const projects = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  const nameOf = (id: string) => projects.data?.find((project) => project.id === id)?.name ?? id
  return (
    <>
      <PageHead title={title}>
        <Button component={Link} to={add.to} leftSection={<Plus size={16} aria-hidden />}>
          {add.label}
        </Button>
      </PageHead>
      {!parts && !error && <LoadingRows />}
      {error && <Failed error={error} onRetry={onRetry} />}
      {parts &&
        (parts.length === 0 ? (
          <Empty title={`No ${title} yet`}>
            <Text c="dimmed" maw={540}>
              {empty}
            </Text>
            <Button component={Link} to={add.to}>
              {add.label}
            </Button>
          </Empty>
        ) : (
          <Paper withBorder radius="md">
            <Table.ScrollContainer minWidth={620}>
              <Table verticalSpacing="xs">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Name</Table.Th>
                    <Table.Th>What it does</Table.Th>
                    <Table.Th>Projects</Table.Th>
                    <Table.Th>State</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {parts.map((part) => (
                    <Table.Tr key={part.name}>
                      <Table.Td style={{ overflowWrap: 'anywhere' }}>
                        <Link to={partPath(kind, part.name)}>{part.name}</Link>
                        {part.customized && (
                          <Badge ml={6} size="sm" variant="light" tt="none">
                            edited by hand
                          </Badge>
                        )}
                      </Table.Td>
                      <Table.Td>
                        <Text size="sm" lineClamp={2}>
                          {what(part)}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Group gap={6}>
                          {part.projects.map((id) => (
                            <Link key={id} to={`/projects/${id}`}>
                              {nameOf(id)}
                            </Link>
                          ))}
                        </Group>
                      </Table.Td>
                      <Table.Td>{state(part)}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </Paper>
        ))}
    </>
  )
}
