/** A project by its id, as a link with its name. */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { declared, dkeys } from '../declared-client.ts'

export function ProjectName({ id }: { id: string }) {
  const { data } = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  return <Link to={`/projects/${id}`}>{data?.find((project) => project.id === id)?.name ?? id}</Link>
}
