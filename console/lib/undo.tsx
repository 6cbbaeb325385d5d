/** What was done, with what takes it back: 8 seconds on the screen (the console's brief, section 2). */
import { Button, Group, Text } from '@mantine/core'
import { notifications } from './notices.ts'

const UNDO_MS = 8_000

/**
 * @param id of what was done to; a later word on it replaces this one
 * @param said what happened, past tense @param undo absent: it is not taken back
 */
export function sayDone(id: string, said: string, undo?: () => void): void {
  notifications.hide(id)
  notifications.show({
    id,
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm">{said}</Text>
        {undo && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              notifications.hide(id)
              undo()
            }}
          >
            Undo
          </Button>
        )}
      </Group>
    ),
  })
}
