/** Maintenance: planned work of which nobody is told; what is planned, what lasts, and what is over. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { repeatWords } from '../../../schemas/repeat-words.ts'
import type { MaintenanceWindow } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { listed } from '../../lib/middle.ts'
import { count, moment } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { maintenance, mkeys } from '../../maintenance-client.ts'
import { Mark } from '../../parts/mark.tsx'
import { useMay } from '../../parts/may.tsx'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { MaintenanceForm } from './maintenance-form.tsx'

const HOUR_MS = 3_600_000
/** Windows end by the clock. */
const AGAIN_MS = 30_000

const COLUMNS = [
  { name: 'What', isHead: true },
  'Of',
  'Begins',
  'Ends',
  { name: 'Held back', isNumber: true },
  { name: 'By', isMinor: true },
  { name: 'End or extend', isUnnamed: true },
]

const TONES = { planned: 'quiet', active: 'busy', over: 'quiet' } as const

export function MaintenanceTab() {
  const may = useMay('respond')
  const [isOpen, setOpen] = useState(false)
  const { data, error, refetch } = useQuery({
    queryKey: mkeys.list('all'),
    queryFn: () => maintenance.list('all'),
    refetchInterval: AGAIN_MS,
  })
  const plan = may && (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen(true)}>
      Plan maintenance
    </Button>
  )
  return (
    <Stack gap="sm" maw={1400}>
      <Group justify="space-between" align="flex-start">
        <Text c="dimmed" maw={640}>
          While maintenance lasts, firings of what is worked on wake no agent and reach no subscriber.
          Incidents that are still open when the window ends are delivered then.
        </Text>
        {data && data.length > 0 && plan}
      </Group>
      {error && !data ? (
        <Failed what="maintenance" error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <LoadingRows />
      ) : data.length === 0 ? (
        <Empty title="No maintenance is planned">{plan}</Empty>
      ) : (
        <Windows windows={data} />
      )}
      {isOpen && <MaintenanceForm onClose={() => setOpen(false)} />}
    </Stack>
  )
}

function Windows({ windows }: { windows: readonly MaintenanceWindow[] }) {
  const isOfProject = windows.some(({ project }) => project !== null)
  const projects = useQuery({
    queryKey: dkeys.projects,
    queryFn: declared.projects,
    enabled: isOfProject,
  })
  const nameOf = (id: string) => projects.data?.find((one) => one.id === id)?.name ?? id
  return (
    <Rows label="Maintenance" columns={COLUMNS}>
      {windows.map((window) => (
        <Row key={window.id}>
          <Cell>
            <Group gap="xs" wrap="nowrap" align="baseline">
              <Mark tone={TONES[window.state]}>{window.state}</Mark>
              {window.reason}
            </Group>
            {window.repeat && (
              <Text size="sm" c="dimmed">
                Repeats {repeatWords(window.repeat)}
              </Text>
            )}
          </Cell>
          <Cell>
            {[
              ...window.entities,
              ...window.triggers.map((name) => `trigger ${name}`),
              ...(window.project === null ? [] : [`project ${nameOf(window.project)}`]),
            ].join(', ')}
          </Cell>
          <Cell isWhole>
            <When at={window.from} only="absolute" />
          </Cell>
          <Cell isWhole>
            <When at={window.ended_at ?? window.until} only="absolute" />
          </Cell>
          <Cell>{count(window.held)}</Cell>
          <Cell isWhole>{listed(window.by)}</Cell>
          <Cell isWhole>{window.state !== 'over' && <Acts window={window} />}</Cell>
        </Row>
      ))}
    </Rows>
  )
}

function Acts({ window }: { window: MaintenanceWindow }) {
  const may = useMay('respond')
  const end = useChange((_: undefined) => maintenance.end(window.id), {
    failed: `Couldn’t end ${window.reason}`,
    said: ({ state, from }) =>
      state === 'planned'
        ? `${window.reason} begins next ${moment(Date.parse(from), Date.now())}`
        : `Ended: ${window.reason}`,
  })
  const extend = useChange(
    (_: undefined) =>
      maintenance.setEnd(window.id, new Date(Date.parse(window.until) + HOUR_MS).toISOString()),
    { failed: `Couldn’t extend ${window.reason}`, said: () => `One hour longer: ${window.reason}` },
  )
  const stop = useChange((_: undefined) => maintenance.stopRepeating(window.id), {
    failed: `Couldn’t stop ${window.reason}`,
    said: () => `Ended for good: ${window.reason}`,
  })
  if (!may) return null
  const isPlanned = window.state === 'planned'
  const ends = isPlanned ? (window.repeat ? 'Skip the next' : 'Cancel') : 'End now'
  return (
    <Group gap="xs" wrap="nowrap">
      {!(isPlanned && window.repeat) && (
        <Button
          size="compact-sm"
          variant="default"
          loading={extend.isPending}
          onClick={() => extend.mutate(undefined)}
        >
          1 h longer
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="default"
        loading={end.isPending}
        onClick={() => end.mutate(undefined)}
      >
        {ends}
      </Button>
      {window.repeat && (
        <Button
          size="compact-sm"
          variant="default"
          loading={stop.isPending}
          onClick={() => stop.mutate(undefined)}
        >
          Stop repeating
        </Button>
      )}
    </Group>
  )
}
