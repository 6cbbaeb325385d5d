/** A list of parts of one kind, each with what it is and the projects that use it. */
import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { declared, dkeys } from '../declared-client.ts'
import { partPath } from '../lib/fields.ts'
import { AddLink, LongList } from './long-list.tsx'
import { PageHead } from './page.tsx'
import { Cell, Row, RowLink, Rows } from './rows.tsx'
import { Empty, Failed, LoadingRows } from './states.tsx'

interface Part {
  name: string
  projects: readonly string[]
  customized: boolean
}

interface Props<T extends Part> {
  kind: string
  title: string
  /** Below the title: what the parts are called elsewhere. */
  subtitle?: string
  /** Address of the form that makes one, and what its button says. */
  add: { to: string; label: string }
  parts: readonly T[] | undefined
  error: Error | null
  onRetry: () => void
  /** What a part is, in plain words. */
  what: (part: T) => string
  /** Its state, on the right. */
  state: (part: T) => ReactNode
  /** What to say when there is none. */
  empty: string
}

export function PartListPage<T extends Part>({
  kind,
  title,
  subtitle,
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
      <PageHead title={title} subtitle={subtitle}>
        <AddLink to={add.to}>{add.label}</AddLink>
      </PageHead>
      {!parts && !error && <LoadingRows />}
      {error && <Failed what={subtitle ?? title.toLowerCase()} error={error} onRetry={onRetry} />}
      {parts &&
        (parts.length === 0 ? (
          <Empty title={`No ${subtitle ?? title.toLowerCase()} yet`}>
            <Text c="dimmed" maw={540}>
              {empty}
            </Text>
          </Empty>
        ) : (
          <LongList
            all={parts}
            many={subtitle ?? title.toLowerCase()}
            by="name or description"
            words={(part) => `${part.name} ${what(part)}`}
          >
            {(shown) => (
              <Rows
                label={title}
                columns={[{ name: 'Name', isHead: true }, 'Description', 'Projects', 'State']}
              >
                {shown.map((part) => (
                  <Row key={part.name}>
                    <Cell>
                      <RowLink to={partPath(kind, part.name)}>{part.name}</RowLink>
                      {part.customized && (
                        <Badge ml={6} size="sm" variant="light" tt="none">
                          edited by hand
                        </Badge>
                      )}
                    </Cell>
                    <Cell>
                      <Text size="sm" lineClamp={2}>
                        {what(part)}
                      </Text>
                    </Cell>
                    <Cell>
                      <Group gap={6}>
                        {part.projects.map((id) => (
                          <Link key={id} to={`/projects/${id}`}>
                            {nameOf(id)}
                          </Link>
                        ))}
                      </Group>
                    </Cell>
                    <Cell>{state(part)}</Cell>
                  </Row>
                ))}
              </Rows>
            )}
          </LongList>
        ))}
    </>
  )
}
