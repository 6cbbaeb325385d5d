/** Who changed a trigger, when and why: what of the instance's history is about it. */
import { Stack, Text } from '@mantine/core'
import { ChangeHistory } from '../../parts/change-history.tsx'

export function TriggerHistory({ name }: { name: string }) {
  return (
    <Stack maw={900}>
      <Text size="sm" c="dimmed">
        Changes of {name}, newest first. Each can be undone.
      </Text>
      <ChangeHistory about={{ kind: 'trigger', name }} />
    </Stack>
  )
}
