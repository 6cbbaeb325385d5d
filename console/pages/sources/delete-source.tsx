/** Asks before a source goes, and says what goes with it. */
import { Button, Checkbox, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { DependentsResult, Source } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { notifications } from '../../lib/notices.ts'
import { countEvents } from '../../lib/time.ts'

export function DeleteSource({ source, onClose }: { source: Source; onClose: () => void }) {
  const [purge, setPurge] = useState(false)
  const go = useNavigate()
  const queries = useQueryClient()
  const { data } = useQuery({
    queryKey: ['dependents', source.name],
    queryFn: () => api.dependents(source.name),
  })
  const remove = useMutation({
    mutationFn: () => api.deleteSource(source.name, purge),
    onSuccess: async (result) => {
      notifications.show({
        message: result.purged_events
          ? `${source.name} is deleted; ${countEvents(result.purged_events)} ${result.purged_events === 1 ? 'goes' : 'go'} in the background`
          : `${source.name} is deleted; its events stay readable`,
      })
      await go('/sources')
      await queries.invalidateQueries({ queryKey: keys.sources })
    },
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t delete the source', message: error.message }),
  })
  return (
    <Modal opened onClose={onClose} title={`Delete ${source.name}?`} centered>
      <Stack>
        <Text size="sm">
          Its ingest URL and the keys made for it stop working at once. A new source of the same name starts
          empty.
        </Text>
        <Dependents title="These read it and go too:" of={data?.dependents.filter(({ stays }) => !stays)} />
        <Dependents
          title="Nothing wakes these agents any more; they stay:"
          of={data?.dependents.filter(({ stays }) => stays)}
        />
        <Checkbox
          checked={purge}
          onChange={(event) => setPurge(event.currentTarget.checked)}
          label={`Also purge its ${countEvents(source.health.events_total)} for good`}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            {purge ? 'Delete and purge' : 'Delete'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Dependents({ title, of = [] }: { title: string; of?: DependentsResult['dependents'] | undefined }) {
  if (of.length === 0) return null
  return (
    <div>
      <Text size="sm">{title}</Text>
      <List size="sm">
        {of.map(({ kind, name, also_reads: others = [] }) => (
          <List.Item key={`${kind}:${name}`}>
            {kind} {name}
            {others.length > 0 && `, which reads ${others.join(', ')} too`}
          </List.Item>
        ))}
      </List>
    </div>
  )
}
