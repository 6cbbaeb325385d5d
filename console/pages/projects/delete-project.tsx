/** Asks before a project goes: what is deleted, what stays, what others use. */
import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import type { Project, Wiring } from '../../../schemas/types.ts'
import { ApiError } from '../../client.ts'
import { declared, dkeys, type Removal } from '../../declared-client.ts'
import { leftPausedWords, partWords, wireWords } from '../../lib/left-paused.ts'
import { notifications } from '../../lib/notices.ts'
import { count } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { Failed, LoadingRows } from '../../parts/states.tsx'

const idOf = ({ kind, name }: { kind: string; name: string }): string => `${kind}:${name}`

export function DeleteProject({ project, onClose }: { project: Project; onClose: () => void }) {
  const { data, error } = useQuery({
    queryKey: dkeys.of(project.id, 'deletion'),
    queryFn: () => declared.removal(project.id),
  })
  return (
    <Modal opened onClose={onClose} title={`Delete ${project.name}?`} size="lg" centered>
      {error && <Failed what="what goes with it" error={error} />}
      {data ? <Confirm project={project} removal={data} onClose={onClose} /> : !error && <LoadingRows />}
    </Modal>
  )
}

function Confirm({ project, removal, onClose }: { project: Project; removal: Removal; onClose: () => void }) {
  const go = useNavigate()
  const [picked, setPicked] = useState<string[]>(removal.deletes.map(idOf))
  const [purge, setPurge] = useState(false)
  const asked = useQuery({
    queryKey: [...dkeys.of(project.id, 'deletion'), ...picked],
    queryFn: () => declared.removal(project.id, picked),
    placeholderData: (before) => before,
  })
  // What is picked decides what stays paused, and how many events there are.
  const { events, left_paused: left, unwired } = asked.data ?? removal
  const remove = useChange(() => declared.deleteProject(project.id, picked, purge), {
    failed: `Couldn’t delete ${project.name}`,
    said: (result) =>
      `${project.name} is deleted${result.deleted.length ? ` with ${result.deleted.length} parts` : ''}; undo it under Changes`,
    onDone: (result) => {
      tellLeftPaused(result.left_paused)
      void go('/projects')
    },
  })
  const candidates = [...removal.deletes, ...removal.releases]
  return (
    <Stack>
      {candidates.length > 0 && (
        <Checkbox.Group
          label="Also delete"
          description="Parts that are not picked stay"
          value={picked}
          onChange={setPicked}
        >
          <Stack gap={6} mt={6}>
            {candidates.map((part) => (
              <Checkbox key={idOf(part)} value={idOf(part)} label={partWords(part)} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      {removal.shared.length > 0 && (
        <div>
          <Text size="sm" fw={600}>
            These stay, because other projects use them
          </Text>
          <Text size="sm">{removal.shared.map(partWords).join(', ')}</Text>
        </div>
      )}
      {asked.error && (
        <Failed
          {...(isRefused(asked.error)
            ? { title: 'What is picked cannot go alone' }
            : { what: 'what goes with it' })}
          error={asked.error}
        />
      )}
      {!asked.error && leftPausedWords(left) && (
        <div>
          <Text size="sm" fw={600}>
            These stay paused, until you resume each
          </Text>
          <Text size="sm">{leftPausedWords(left)}</Text>
        </div>
      )}
      {!asked.error && <Unwired wiring={unwired} />}
      {picked.some((id) => id.startsWith('trigger:')) && (
        <Text size="sm">Open incidents of its triggers end.</Text>
      )}
      {removal.keys > 0 && <Text size="sm">{removal.keys} of its keys stop working.</Text>}
      {picked.some((id) => id.startsWith('source:')) && (
        <Checkbox
          checked={purge}
          onChange={(event) => setPurge(event.currentTarget.checked)}
          label={`Also purge ${count(events)} stored events for good; otherwise they stay readable`}
        />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button color="red" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
          Delete project
        </Button>
      </Group>
    </Stack>
  )
}

/** Wiring is the project’s, and goes with it: agents that stay are not woken any more. */
function Unwired({ wiring }: { wiring: Wiring }) {
  const wires = wireWords(wiring)
  if (wires.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600}>
        This wiring goes, though its agents stay
      </Text>
      <Text size="sm">{wires.join(', ')}</Text>
    </div>
  )
}

/** Not every choice can be: a source does not go before what reads it. */
const isRefused = (error: Error): boolean => error instanceof ApiError && error.status === 409

/** Stands longer than what was done: it names what somebody still has to do. */
function tellLeftPaused(parts: readonly string[] | undefined): void {
  const words = leftPausedWords(parts)
  if (words)
    notifications.show({
      color: 'yellow',
      title: 'Still paused',
      message: `Stopped by the pause of the project: ${words}. Resume each on its page.`,
      autoClose: 15_000,
    })
}
