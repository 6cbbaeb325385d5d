/** Whether a finding is right: marked by a person, with the event that was the true cause; each step can be undone. */
import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Link } from 'react-router'
import { callerText } from '../../schemas/caller-words.ts'
import type { FindingMark, MarkWrite, ResultMarked } from '../../schemas/types.ts'
import { declared } from '../declared-client.ts'
import { eventPath } from '../lib/explore-state.ts'
import { MARK_TONES, MARK_WORDS, writeOf } from '../lib/finding-marks.ts'
import { notifications } from '../lib/notices.ts'
import { useChange } from '../lib/use-change.ts'
import { useDraft } from '../lib/use-draft.ts'
import { DraftRestored } from './draft-restored.tsx'
import { Mark } from './mark.tsx'
import { Refusal } from './refusal.tsx'
import { When } from './when.tsx'

interface Props {
  /** Project that the finding is a result of. */
  project: string
  run: string
  mark: FindingMark | null
  /** What the finding is called, for screen readers. */
  name: string
}

const UNDO_MS = 8_000

export function FindingMarks({ project, run, mark, name }: Props) {
  const [asked, setAsked] = useState<'wrong' | 'partly' | null>(null)
  const change = useChange((write: MarkWrite) => declared.markFinding(project, run, write), {
    onDone: (marked) => offerUndo(marked, () => undo.mutate(writeOf(marked.before))),
  })
  const undo = useChange((write: MarkWrite) => declared.markFinding(project, run, write), {
    said: ({ mark: now }) => (now ? `Marked as ${MARK_WORDS[now.mark].toLowerCase()} again` : 'Mark removed'),
  })
  return (
    <Stack gap={4}>
      <Group gap={6} role="group" aria-label={`Is the finding right: ${name}`}>
        {(['right', 'partly', 'wrong'] as const).map((word) => (
          <Button
            key={word}
            size="compact-sm"
            variant={mark?.mark === word ? 'filled' : 'default'}
            aria-pressed={mark?.mark === word}
            loading={change.isPending && change.variables?.mark === word}
            onClick={() => (word === 'right' ? change.mutate({ mark: word }) : setAsked(word))}
          >
            {MARK_WORDS[word]}
            {word === 'right' ? '' : '…'}
          </Button>
        ))}
        {mark && (
          <Button size="compact-sm" variant="subtle" onClick={() => change.mutate({ mark: null })}>
            Remove mark
          </Button>
        )}
      </Group>
      {mark && <MarkSaid mark={mark} />}
      {asked && (
        <MarkDialog
          {...{ project, run }}
          word={asked}
          was={mark}
          onClose={() => setAsked(null)}
          onMarked={(marked) => offerUndo(marked, () => undo.mutate(writeOf(marked.before)))}
        />
      )}
    </Stack>
  )
}

/** Who marked it and how, with the event that was the cause. */
export function MarkSaid({ mark: { mark, by, at, note, cause } }: { mark: FindingMark }) {
  return (
    <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
      <Mark tone={MARK_TONES[mark]}>{MARK_WORDS[mark]}</Mark> by {callerText(by)}, <When at={at} />
      {cause && (
        <>
          . The cause was <Link to={eventPath(cause)}>{cause}</Link>
        </>
      )}
      {note && `: ${note}`}
    </Text>
  )
}

function MarkDialog({
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
          <Group justify="flex-end">
            <Button
              variant="default"
              onClick={() => {
                kept.discard()
                onClose()
              }}
            >
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Mark as {MARK_WORDS[word].toLowerCase()}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function offerUndo({ id, mark }: ResultMarked, onUndo: () => void): void {
  const notice = `mark-${id}`
  notifications.show({
    id: notice,
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{mark ? `Marked as ${MARK_WORDS[mark.mark].toLowerCase()}` : 'Mark removed'}</span>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            notifications.hide(notice)
            onUndo()
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  })
}
