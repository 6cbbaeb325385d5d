/** Who changed what, when and why, with undo; of a project, of one object, or of the whole instance. */
import { Accordion, Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useState } from 'react'
import { callerText } from '../../schemas/caller-words.ts'
import type { ChangeSet } from '../../schemas/types.ts'
import { declared, dkeys } from '../declared-client.ts'
import { canUndo } from '../lib/fields.ts'
import { useChange } from '../lib/use-change.ts'
import { useMay } from './may.tsx'
import { ChangedObjects, PlanView } from './plan-view.tsx'
import { Empty, Failed, LoadingRows } from './states.tsx'
import { When } from './when.tsx'

interface Props {
  project?: string
  /** One object. */
  about?: { kind: string; name: string }
}

export function ChangeHistory({ project, about }: Props) {
  const may = useMay()
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery({
      queryKey: dkeys.changes(about ? `${about.kind}/${about.name}` : (project ?? '')),
      initialPageParam: 0,
      queryFn: ({ pageParam }) =>
        declared.changes({
          ...(project ? { project } : {}),
          ...about,
          ...(pageParam ? { before: pageParam } : {}),
        }),
      getNextPageParam: (page) => page.next_before ?? undefined,
      refetchInterval: 15_000,
    })
  const [undoing, setUndoing] = useState<ChangeSet | null>(null)
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="the history" error={error} onRetry={() => void refetch()} />
  const sets = data.pages.flatMap((page) => page.change_sets)
  if (sets.length === 0)
    return (
      <Empty title="No changes yet">
        <Text c="dimmed">Every change of what is declared is listed here, and can be undone.</Text>
      </Empty>
    )
  return (
    <Stack>
      <Accordion variant="separated" chevronPosition="left">
        {sets.map((set) => (
          <Accordion.Item key={set.id} value={String(set.id)}>
            <Accordion.Control>
              <Group justify="space-between" gap="xs">
                <div style={{ minWidth: 0 }}>
                  <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {set.summary}
                  </Text>
                  <Text size="xs" c="dimmed" component="div">
                    <When at={set.at} /> · {callerText(set.actor)} · {set.origin}
                    {set.why && ` · ${set.why}`}
                  </Text>
                </div>
                {set.undone_by !== null && (
                  <Badge variant="light" color="gray" tt="none">
                    undone
                  </Badge>
                )}
              </Group>
            </Accordion.Control>
            <Accordion.Panel>
              <Stack gap="sm">
                <ChangedObjects changes={set.changes} />
                {set.objects > set.changes.length && (
                  <Text size="xs" c="dimmed">
                    and {set.objects - set.changes.length} more objects
                  </Text>
                )}
                {may && canUndo(set) && (
                  <Group>
                    <Button
                      size="xs"
                      variant="default"
                      leftSection={<Undo2 size={14} aria-hidden />}
                      onClick={() => setUndoing(set)}
                    >
                      Undo…
                    </Button>
                  </Group>
                )}
              </Stack>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older changes
        </Button>
      )}
      {undoing && <UndoChange set={undoing} onClose={() => setUndoing(null)} />}
    </Stack>
  )
}

function UndoChange({ set, onClose }: { set: ChangeSet; onClose: () => void }) {
  const preview = useQuery({
    queryKey: ['undo', set.id],
    queryFn: () => declared.undo(set.id, true),
    staleTime: 0,
    gcTime: 0,
  })
  const undo = useChange(() => declared.undo(set.id, false), {
    failed: 'Couldn’t undo the change',
    said: () => 'Undone; both are in the history',
    onDone: onClose,
  })
  return (
    <Modal opened onClose={onClose} title="Undo this change?" size="lg" centered>
      <Stack>
        <Text size="sm">{set.summary}</Text>
        {preview.isPending && <LoadingRows />}
        {preview.error && <Failed title="Couldn’t undo the change" error={preview.error} />}
        {preview.data && <PlanView plan={preview.data.plan} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={undo.isPending} disabled={!preview.data} onClick={() => undo.mutate(undefined)}>
            Undo
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
