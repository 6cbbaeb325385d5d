/** What a value of a label is called where people read it. */
import { useQuery } from '@tanstack/react-query'
import { declared, dkeys } from '../../declared-client.ts'

/**
 * Findings are labelled with the id of their project: its name is what people know it by. A value that is no id of
 * theirs, such as one of a source's own `project`, is said as it is.
 * @param labels what is on the page: projects are read only where they are among them
 */
export function useSaid(labels: readonly string[]): (label: string, value: string) => string {
  const { data } = useQuery({
    queryKey: dkeys.projects,
    queryFn: declared.projects,
    enabled: labels.includes('project'),
  })
  return (label, value) => (label === 'project' && data?.find(({ id }) => id === value)?.name) || value
}
