/** Projects by name, from their ids. */
import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { declared, dkeys } from '../declared-client.ts'
import { NameLink } from './rows.tsx'

export function ProjectLinks({ ids, none = '–' }: { ids: readonly string[]; none?: string }) {
  const { data } = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  if (ids.length === 0) return <span>{none}</span>
  return (
    <Group gap={6}>
      {ids.map((id) => (
        <NameLink key={id} to={`/projects/${id}`}>
          {data?.find((project) => project.id === id)?.name ?? (data ? id : '…')}
        </NameLink>
      ))}
    </Group>
  )
}
