/** The steps of a draft, with undo and redo; what was undone is still listed, and can be done again. */
import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core'
import { Redo2, Undo2, X } from 'lucide-react'
import { problemsOf } from '../state/problems.ts'
import type { Editor } from '../state/use-editor.ts'

export function UndoButtons({ editor }: { editor: Editor }) {
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        variant="default"
        aria-label="Undo"
        title="Undo (Ctrl+Z)"
        disabled={!editor.canUndo}
        onClick={editor.undo}
      >
        <Undo2 size={15} aria-hidden />
      </ActionIcon>
      <ActionIcon
        variant="default"
        aria-label="Redo"
        title="Redo (Ctrl+Shift+Z)"
        disabled={!editor.canRedo}
        onClick={editor.redo}
      >
        <Redo2 size={15} aria-hidden />
      </ActionIcon>
    </Group>
  )
}

export function Steps({ editor }: { editor: Editor }) {
  const { draft } = editor
  if (!draft) return null
  const faulty = new Set(problemsOf(editor).map(({ step }) => step))
  return (
    <Stack gap={2}>
      <ol className="draft-steps">
        {draft.steps.map((step, at) => {
          const isUndone = at >= draft.cursor
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place.
            <li key={at}>
              <Group gap="xs" wrap="nowrap" justify="space-between">
                <Text
                  size="sm"
                  c={isUndone ? 'dimmed' : undefined}
                  fw={faulty.has(at) ? 600 : undefined}
                  td={isUndone ? 'line-through' : undefined}
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {step.label}
                  {faulty.has(at) && ' (refused)'}
                </Text>
                <Group gap={4} wrap="nowrap">
                  {at + 1 !== draft.cursor && (
                    <Button
                      size="compact-xs"
                      variant="subtle"
                      onClick={() => editor.moveTo(at + 1)}
                      aria-label={`${isUndone ? 'Redo' : 'Undo'} to “${step.label}”`}
                    >
                      {isUndone ? 'Redo to here' : 'Undo to here'}
                    </Button>
                  )}
                  <ActionIcon
                    size="sm"
                    variant="subtle"
                    color="gray"
                    aria-label={`Drop “${step.label}”`}
                    onClick={() => editor.drop(at)}
                  >
                    <X size={13} aria-hidden />
                  </ActionIcon>
                </Group>
              </Group>
            </li>
          )
        })}
      </ol>
    </Stack>
  )
}
