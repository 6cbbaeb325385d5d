/** Applies a draft in one transaction, or discards it. */
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChangeApplied } from '../../../../schemas/types.ts'
import { ApiError } from '../../../client.ts'
import { graphApi } from '../../../graph-client.ts'
import { useChange } from '../../../lib/use-change.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { Refusal } from '../../../parts/refusal.tsx'
import { operationsOf, placesOf } from '../../draft/draft.ts'
import type { Editor } from '../state/use-editor.ts'

export interface Applied extends ChangeApplied {
  places: ReturnType<typeof placesOf>
}

interface Props {
  editor: Editor
  /** Called as it is sent: what an earlier one had done is then no longer shown as this one's. */
  onApply: () => void
  onApplied: (applied: Applied) => void
}

export function ApplyDraft({ editor, onApply, onApplied }: Props) {
  const { draft, preview, live } = editor
  const queries = useQueryClient()
  const kept = useDraft({ form: 'why', start: '' })
  const why = kept.value
  const [asking, setAsking] = useState(false)
  const apply = useChange(
    async () => {
      const applied = await graphApi.apply({
        base: draft!.base,
        operations: operationsOf(draft!),
        ...(why.trim() ? { why: why.trim() } : {}),
      })
      // Forms that are open go over from the draft to what is stored, not to what was stored before.
      await queries.invalidateQueries({ queryKey: ['declared', 'spec'] })
      return { ...applied, places: placesOf(draft!) }
    },
    {
      onDone: (applied) => {
        editor.replace(null)
        kept.fill('')
        onApplied(applied)
      },
      quiet: true,
    },
  )
  const plan = preview.answer?.plan
  const isOnlyPlaces = draft !== null && draft.cursor > 0 && operationsOf(draft).length === 0
  const isReady =
    isOnlyPlaces ||
    (draft !== null && draft.cursor > 0 && plan !== null && plan !== undefined && editor.lost.length === 0)
  const isFile = live.source_of_truth === 'file'
  const hasConflicts = apply.error instanceof ApiError && apply.error.conflicts.length > 0
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isOnlyPlaces) {
          // Where parts stand is kept already: there is nothing to send.
          editor.replace(null)
          editor.say('Parts keep their positions')
          return
        }
        onApply()
        apply.mutate(undefined)
      }}
    >
      <Stack gap="xs">
        {apply.error && !hasConflicts && <Refusal error={apply.error} title="Couldn’t apply the draft" />}
        {hasConflicts && (
          <Text size="sm" role="alert">
            Somebody changed the same fields just now; the conflict is shown above in a moment.
          </Text>
        )}
        <Group align="flex-end">
          {!isOnlyPlaces && (
            <TextInput
              label="Why"
              description="Optional. Shown in the history"
              value={why}
              onChange={(event) => kept.set(event.currentTarget.value)}
              maxLength={500}
              style={{ flex: '1 1 220px' }}
            />
          )}
          <Button
            type="submit"
            variant={isFile ? 'default' : 'filled'}
            loading={apply.isPending}
            disabled={!isReady}
          >
            {isOnlyPlaces ? 'Keep' : isFile ? 'Apply until the next start' : 'Apply'}
          </Button>
          <Button variant="default" onClick={() => setAsking(true)}>
            Discard…
          </Button>
        </Group>
        {isFile && (
          <Text size="xs" c="dimmed">
            Applied here, it holds until the next start brings back the file.
          </Text>
        )}
      </Stack>
      <Modal opened={asking} onClose={() => setAsking(false)} title="Discard the draft?" centered>
        <Stack>
          <Text size="sm">This deletes all of its steps. The project does not change.</Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button
              color="red"
              onClick={() => {
                setAsking(false)
                kept.fill('')
                editor.discard()
              }}
            >
              Discard
            </Button>
          </Group>
        </Stack>
      </Modal>
    </form>
  )
}
