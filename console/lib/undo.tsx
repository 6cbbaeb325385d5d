/** What was done, with what takes it back: 8 seconds on the screen (the console's brief, section 2). */
import { Button, Group, Kbd, Text } from '@mantine/core'
import { useRef } from 'react'
import { notifications } from './notices.ts'
import { usePageKeys } from './page-keys.ts'

const UNDO_MS = 8_000
const UNDO = '[data-undo]'

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
          <UndoButton
            onUndo={() => {
              notifications.hide(id)
              undo()
            }}
          />
        )}
      </Group>
    ),
  })
}

/** It stands away from what is focused: U does the same from anywhere, for what was done last. */
function UndoButton({ onUndo }: { onUndo: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  usePageKeys([['u', () => button.current === [...document.querySelectorAll(UNDO)].at(-1) && onUndo()]])
  return (
    <Button
      ref={button}
      data-undo
      size="compact-sm"
      variant="default"
      aria-keyshortcuts="U"
      rightSection={
        <Kbd size="xs" aria-hidden>
          U
        </Kbd>
      }
      onClick={onUndo}
    >
      Undo
    </Button>
  )
}
