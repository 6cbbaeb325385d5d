/** Triggers: what each waits for, and how often it came. */
import { Badge, Button, Group, Paper, Stack, Table, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Search } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Trigger } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { triggerPath } from '../../lib/firings.ts'
import { count } from '../../lib/time.ts'
import { Mark } from '../../parts/mark.tsx'
import { PageHead } from '../../parts/page.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { Spark } from '../../parts/spark.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

export default function TriggersPage() {
  const [filter, setFilter] = useState('')
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.triggers,
    queryFn: declared.triggers,
    refetchInterval: 15_000,
  })
  const wanted = filter.toLowerCase()
  const shown = (data ?? []).filter(({ name, sentence, sources }) =>
    `${name} ${sentence} ${sources.join(' ')}`.toLowerCase().includes(wanted),
  )
  return (
    <>
      <PageHead title="Triggers">
        <Button component={Link} to="/triggers/new" leftSection={<Plus size={16} aria-hidden />}>
          Add trigger
        </Button>
      </PageHead>
      {isPending && <LoadingRows />}
      {error && <Failed error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <NoTriggers />}
      {data && data.length > 0 && (
        <Stack gap="sm">
          <TextInput
            aria-label="Filter triggers"
            placeholder="Filter by name, words or source"
            leftSection={<Search size={15} aria-hidden />}
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
            maw={340}
          />
          <Paper withBorder radius="md">
            <Table.ScrollContainer minWidth={860}>
              <Table verticalSpacing="xs" highlightOnHover>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Trigger</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th>Projects</Table.Th>
                    <Table.Th>Last fired</Table.Th>
                    <Table.Th ta="right">24 hours</Table.Th>
                    <Table.Th>7 days</Table.Th>
                    <Table.Th ta="right">Subscribers</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {shown.map((trigger) => (
                    <TriggerRow key={trigger.name} trigger={trigger} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
            {shown.length === 0 && (
              <Text p="md" c="dimmed" size="sm">
                No trigger fits “{filter}”.
              </Text>
            )}
          </Paper>
        </Stack>
      )}
    </>
  )
}

function TriggerRow({ trigger }: { trigger: Trigger }) {
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere', minWidth: 260 }}>
        <Group gap="xs">
          <Text component={Link} to={triggerPath(trigger.name)} fw={600} className="link">
            {trigger.name}
          </Text>
          {trigger.customized && (
            <Badge size="sm" variant="default" tt="none">
              edited by hand
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" lineClamp={2} title={trigger.sentence}>
          {trigger.sentence}
        </Text>
      </Table.Td>
      <Table.Td>
        <Mark tone={trigger.paused ? 'quiet' : 'good'}>{trigger.paused ? 'paused' : 'active'}</Mark>
      </Table.Td>
      <Table.Td>
        <ProjectLinks ids={trigger.projects} />
      </Table.Td>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <When at={trigger.last_fired} />
      </Table.Td>
      <Table.Td ta="right">{count(trigger.firings_24h)}</Table.Td>
      <Table.Td>
        <Spark days={trigger.spark} />
      </Table.Td>
      <Table.Td ta="right" title="Agents it wakes and addresses it is delivered to">
        {count(trigger.subscribers)}
      </Table.Td>
    </Table.Tr>
  )
}

function NoTriggers() {
  return (
    <Empty title="No triggers yet">
      <Text c="dimmed" maw={540}>
        A trigger watches sources and fires when its condition holds: more than five errors in five minutes,
        say. It wakes agents and tells addresses; what is stored already shows when it would have fired.
      </Text>
      <Button component={Link} to="/triggers/new">
        Add trigger
      </Button>
    </Empty>
  )
}
