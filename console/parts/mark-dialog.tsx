/** Says of a finding that it is wrong, wholly or in part: with the event that was the true cause, and a note. */
import { Modal, Stack, Textarea, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import type { FindingMark, MarkWrite, ResultMarked } from '../../schemas/types.ts'
import { declared } from '../declared-client.ts'
import { MARK_WORDS } from '../lib/finding-marks.ts'
import { useChange } from '../lib/use-change.ts'
import { useDraft } from '../lib/use-draft.ts'
import { DialogFoot } from './dialog-foot.tsx'
import { DraftRestored } from './draft-restored.tsx'
import { Refusal } from './refusal.tsx'

/** @param was how it is marked; null: it is not */
export function MarkDialog({
  project,
  run,
  word,
  was,
  onClose,
  onMarked,
}: {
  project: string
  run: string
  word: 'wrong' | 'partly'
  was: FindingMark | null
  onClose: () => void
  onMarked: (marked: ResultMarked) => void
}) {
  const kept = useDraft({ form: `mark:${run}`, start: { cause: was?.cause ?? '', note: was?.note ?? '' } })
  const { cause, note } = kept.value
  const save = useChange((write: MarkWrite) => declared.markFinding(project, run, write), {
    quiet: true,
    onDone: (marked) => {
      kept.done()
      onMarked(marked)
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({
      mark: word,
      ...(cause.trim() ? { cause: cause.trim() } : {}),
      ...(note.trim() ? { note: note.trim() } : {}),
    })
  }
  return (
    <Modal opened onClose={onClose} title={`Mark the finding as ${MARK_WORDS[word].toLowerCase()}`}>
      <form onSubmit={submit}>
        <Stack>
          <DraftRestored of={kept} />
          <TextInput
            label="Event that was the cause"
            description="Optional. Its id, for example evt_42"
            value={cause}
            onChange={({ currentTarget }) => kept.set((now) => ({ ...now, cause: currentTarget.value }))}
            data-autofocus
          />
          <Textarea
            label="Note"
            description="Optional. What the agent missed"
            value={note}
            onChange={({ currentTarget }) => kept.set((now) => ({ ...now, note: currentTarget.value }))}
            maxLength={2_000}
            autosize
            minRows={2}
          />
          <Refusal error={save.error} title="Couldn't mark the finding" />
          <DialogFoot
            draft={kept}
            onClose={onClose}
            word={`Mark as ${MARK_WORDS[word].toLowerCase()}`}
            isSending={save.isPending}
          />
        </Stack>
      </form>
    </Modal>
  )
}
