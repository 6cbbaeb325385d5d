/** What a scan proposes, to be chosen from, and what it leaves out. */

import { Badge, Checkbox, Group, Paper, Stack, Table, Text } from '@mantine/core'
import type { EnvironmentScan, Label } from '../../../schemas/types.ts'
import { WideTable } from '../../parts/wide-table.tsx'

type Proposed = EnvironmentScan['proposed_sources'][number]

interface Props {
  proposed: readonly Proposed[]
  chosen: ReadonlySet<string>
  onChange: (chosen: Set<string>) => void
}

export function ScanChoice({ proposed, chosen, onChange }: Props) {
  const set = (names: readonly string[], isChosen: boolean) => {
    const next = new Set(chosen)
    for (const name of names) {
      if (isChosen) next.add(name)
      else next.delete(name)
    }
    onChange(next)
  }
  const names = proposed.map(({ name }) => name)
  return (
    <Stack gap="xs" role="group" aria-label="Proposed sources">
      <Checkbox
        label={`All ${proposed.length} proposed sources`}
        checked={chosen.size === proposed.length}
        indeterminate={chosen.size > 0 && chosen.size < proposed.length}
        onChange={(event) => set(names, event.currentTarget.checked)}
        px="md"
      />
      {proposed.map((one) => (
        <Paper key={one.name} withBorder px="md" py="sm" radius="md">
          <Group justify="space-between" align="flex-start" gap="sm">
            <Checkbox
              label={one.name}
              description={one.summary}
              checked={chosen.has(one.name)}
              onChange={(event) => set([one.name], event.currentTarget.checked)}
              styles={{ label: { fontWeight: 600, overflowWrap: 'anywhere' } }}
              style={{ flex: '1 1 260px' }}
            />
            <Group gap={6}>
              <Badge variant="default" tt="none">
                {one.connector}
              </Badge>
              {labelsOf(one).map((label) => (
                <Badge key={label.name} variant="light" tt="none" color={label.primary ? 'blue' : 'gray'}>
                  {label.primary ? `entity: ${label.name}` : label.name}
                </Badge>
              ))}
            </Group>
          </Group>
        </Paper>
      ))}
    </Stack>
  )
}

const labelsOf = ({ config }: Proposed): Label[] =>
  Array.isArray(config.labels) ? (config.labels as Label[]) : []

export function ScanSkipped({ skipped }: { skipped: EnvironmentScan['skipped'] }) {
  return (
    <WideTable minWidth={0}>
      <Table aria-label="Left out">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Container</Table.Th>
            <Table.Th>Why</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {skipped.map((one) => (
            <Table.Tr key={`${one.service} ${one.image} ${one.reason}`}>
              <Table.Td>
                <Text size="sm">{one.service}</Text>
                <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {one.image}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm">{one.reason}</Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  )
}
