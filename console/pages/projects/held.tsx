/** Who holds a project, and taking it over or handing it back. */
import { Badge, Button } from '@mantine/core'
import type { Project } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'

export function Held({ project: { id, name, held_by } }: { project: Project }) {
  const take = useChange(() => declared.takeOverProject(id), {
    failed: `Couldn’t take over ${name}`,
    said: () => `${name} is yours`,
  })
  const release = useChange(() => declared.releaseProject(id), {
    failed: `Couldn’t hand back ${name}`,
    said: () => `${name} is handed back`,
  })
  if (held_by === null) return null
  return (
    <>
      <Badge color="gray" variant="light" tt="none">
        Held by a {held_by}
      </Badge>
      {held_by === 'crew' && (
        <Button variant="default" loading={take.isPending} onClick={() => take.mutate(undefined)}>
          Take over
        </Button>
      )}
      <Button variant="default" loading={release.isPending} onClick={() => release.mutate(undefined)}>
        Release
      </Button>
    </>
  )
}
