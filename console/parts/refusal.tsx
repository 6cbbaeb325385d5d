/** Why a save was refused; where two people changed the same field, what each wants. */
import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { ApiError } from '../client.ts'
import { fieldName, valueText } from '../lib/fields.ts'

export function Refusal({
  error,
  title = 'Couldn’t save',
  onTakeTheirs,
  onKeepMine,
}: {
  error: Error | null
  /** What did not happen. */
  title?: string
  /** Reads what is stored now, and gives mine up. */
  onTakeTheirs?: () => void
  /** Saves mine over theirs. */
  onKeepMine?: () => void
}) {
  if (!error) return null
  const conflicts = error instanceof ApiError ? error.conflicts : []
  return (
    <Alert
      color="red"
      role="alert"
      icon={<CircleAlert size={18} aria-hidden />}
      title={conflicts.length ? 'Somebody else changed the same field' : title}
    >
      {conflicts.length === 0 ? (
        <Text size="sm">{error.message}</Text>
      ) : (
        <Stack gap="xs">
          <Table.ScrollContainer minWidth={420}>
            <Table verticalSpacing={4}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Field</Table.Th>
                  <Table.Th>Before</Table.Th>
                  <Table.Th>Mine</Table.Th>
                  <Table.Th>Theirs</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {conflicts.map((conflict) => (
                  <Table.Tr key={`${conflict.kind}:${conflict.name}:${conflict.path}`}>
                    <Table.Td>{fieldName(conflict.path)}</Table.Td>
                    <Table.Td className="mono">{valueText(conflict.base)}</Table.Td>
                    <Table.Td className="mono">{valueText(conflict.mine)}</Table.Td>
                    <Table.Td className="mono">{valueText(conflict.theirs)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
          <Group>
            {onTakeTheirs && (
              <Button size="xs" variant="default" onClick={onTakeTheirs}>
                Take theirs
              </Button>
            )}
            {onKeepMine && (
              <Button size="xs" color="red" onClick={onKeepMine}>
                Keep mine
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Alert>
  )
}
