/** What was applied, with the way back. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { Fragment } from 'react'
import { Link } from 'react-router'
import { declared, dkeys } from '../../../declared-client.ts'
import { canUndo } from '../../../lib/fields.ts'
import { useChange } from '../../../lib/use-change.ts'
import type { Applied } from './apply-draft.tsx'

interface Props {
  applied: Applied
  onDone: (said: string) => void
}

export function AppliedNote({ applied: { change_set, plan }, onDone }: Props) {
  const undo = useChange(() => declared.undo(change_set!, false), {
    onDone: () => onDone('Change undone; both are in the history'),
  })
  // It may be undone elsewhere: in the history, in another tab, by somebody else.
  const { data: now } = useQuery({
    queryKey: [...dkeys.all, 'change-set', change_set],
    queryFn: () => declared.changeSet(change_set!),
    enabled: change_set !== null,
    staleTime: 0,
  })
  const isUndone = now !== undefined && now.undone_by !== null
  const sources = plan.changes.filter(({ action, kind }) => action === 'create' && kind === 'source')
  return (
    <Alert
      color="teal"
      role="status"
      icon={<Check size={18} aria-hidden />}
      title={
        change_set === null ? 'Nothing had to change' : isUndone ? 'Applied, and undone since' : 'Applied'
      }
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={() => onDone('')}
    >
      <Group justify="space-between">
        <Text size="sm">
          {plan.creates} created, {plan.updates} changed, {plan.deletes} deleted.
          {!isUndone &&
            sources.map(({ name }, i) => (
              <Fragment key={name}>
                {i ? ', ' : ' Where events come in: '}
                <Link to={`/sources/${encodeURIComponent(name)}`}>{name}</Link>
              </Fragment>
            ))}
        </Text>
        {change_set !== null && (now === undefined || canUndo(now)) && (
          <Button size="xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate(undefined)}>
            Undo the change
          </Button>
        )}
      </Group>
    </Alert>
  )
}
