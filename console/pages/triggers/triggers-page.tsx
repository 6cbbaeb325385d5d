/** Triggers: what each waits for. */
import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { declared, dkeys } from '../../declared-client.ts'
import { draftOf, sentenceOf } from '../../lib/trigger-form.ts'
import { PartListPage } from '../../parts/part-list.tsx'

export default function TriggersPage() {
  const { data, error, refetch } = useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers })
  return (
    <PartListPage
      kind="trigger"
      title="Triggers"
      add={{ to: '/triggers/new', label: 'Add trigger' }}
      parts={data}
      error={error}
      onRetry={() => void refetch()}
      what={(trigger) => sentenceOf(draftOf(trigger))}
      state={(trigger) => (
        <Badge variant={trigger.paused ? 'default' : 'light'} tt="none">
          {trigger.paused ? 'paused' : 'active'}
        </Badge>
      )}
      empty="A trigger watches sources and trips when its condition holds: more than five errors in five minutes, say. Agents are woken when it does."
    />
  )
}
