/** Projects by name, from their ids. */
import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { declared, dkeys } from '../declared-client.ts'

export function ProjectLinks({ ids, none = '–' }: { ids: readonly string[]; none?: string }) {
  const { data } = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  if (ids.length === 0) return <span>{none}</span>
  return (
    <Group gap={6}>
      {ids.map((id) => (
        <Link key={id} to={`/projects/${id}`} style={{ overflowWrap: 'anywhere' }}>
          {data?.find((project) => project.id === id)?.name ?? id}
        </Link>
      ))}
    </Group>
  )
}
