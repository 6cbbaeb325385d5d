/** What recent payloads really carry, and a label from a field in one click. */

import { Badge, Button, Group, Paper, Progress, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { FieldCoverage, Label, Source } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { notifications } from '../../lib/notices.ts'
import { count, countEvents } from '../../lib/time.ts'
import { Acts } from '../../parts/may.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { WideTable } from '../../parts/wide-table.tsx'

export function FieldsTab({ source }: { source: Source }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: keys.sourceFields(source.name),
    queryFn: () => api.sourceFields(source.name),
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="fields" error={error} onRetry={() => void refetch()} />
  if (data.sampled === 0)
    return (
      <Empty title="No events to look at yet">
        <Text c="dimmed">Fields show once events have arrived.</Text>
      </Empty>
    )
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        From the newest {countEvents(data.sampled)}. New labels apply to events that come from now on.
      </Text>
      <Paper withBorder radius="md">
        <WideTable minWidth={680}>
          {/* Names and values share what the others leave: the last column stays in view. */}
          <Table verticalSpacing={6} layout="fixed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Field</Table.Th>
                <Table.Th w={160}>Coverage</Table.Th>
                <Table.Th w={90} ta="right">
                  Distinct
                </Table.Th>
                <Table.Th>Most frequent</Table.Th>
                <Table.Th w={130}>Label</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.fields
                .filter((field) => field.coverage > 0)
                .map((field) => (
                  <FieldRow key={field.name} field={field} source={source} />
                ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      </Paper>
    </Stack>
  )
}

function FieldRow({ field, source }: { field: FieldCoverage; source: Source }) {
  const percent = Math.round(field.coverage * 100)
  const values = field.values.map((value) => value.value).join('  ')
  return (
    <Table.Tr>
      <Table.Td className="mono" style={{ overflowWrap: 'anywhere' }}>
        {field.name}
      </Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <Progress
            value={percent}
            w={90}
            size="sm"
            aria-label={`${field.name} is in ${percent} % of events`}
          />
          <Text size="xs" style={{ whiteSpace: 'nowrap' }}>
            {percent} %
          </Text>
        </Group>
      </Table.Td>
      <Table.Td ta="right">{count(field.distinct)}</Table.Td>
      <Table.Td>
        <Text size="xs" c="dimmed" className="mono ellipsis" title={values}>
          {values}
        </Text>
      </Table.Td>
      <Table.Td>
        {field.is_label ? (
          <Badge tt="none">{field.is_key ? 'entity key' : 'label'}</Badge>
        ) : (
          <Acts>
            <AddLabel field={field.name} source={source} />
          </Acts>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function AddLabel({ field, source }: { field: string; source: Source }) {
  const queries = useQueryClient()
  const labels = (source.config.labels ?? []) as Label[]
  const name = field.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, 64)
  const add = useMutation({
    mutationFn: () =>
      api.updateSource(
        source.name,
        {
          name: source.name,
          connector: source.connector,
          poll: source.poll,
          config: {
            ...source.config,
            labels: [
              ...labels,
              { name, field, ...(labels.some((label) => label.primary) ? {} : { primary: true }) },
            ],
          },
        },
        source.version,
      ),
    onSuccess: () => notifications.show({ message: `New events get the label ${name}` }),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t save the fields', message: error.message }),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.sources }),
  })
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={add.isPending}
      onClick={() => add.mutate()}
      aria-label={`Add ${field} as a label`}
    >
      Add as label
    </Button>
  )
}
