/** Whether a finding is right: marked by a person, with the event that was the true cause; each step can be undone. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { Suspense, useState } from 'react'
import { Link } from 'react-router'
import { callerText } from '../../schemas/caller-words.ts'
import type { FindingMark, MarkWrite, ResultMarked } from '../../schemas/types.ts'
import { declared } from '../declared-client.ts'
import { lazyFrom } from '../lib/chunks.ts'
import { eventPath } from '../lib/explore-state.ts'
import { MARK_TONES, MARK_WORDS, writeOf } from '../lib/finding-marks.ts'
import { notifications } from '../lib/notices.ts'
import { useChange } from '../lib/use-change.ts'
import { Mark } from './mark.tsx'
import { Acts } from './may.tsx'
import { When } from './when.tsx'

const MarkDialog = lazyFrom(() => import('./mark-dialog.tsx'))('MarkDialog')

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
      <Acts>
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
      </Acts>
      {mark && <MarkSaid mark={mark} />}
      {asked && (
        <Suspense fallback={null}>
          <MarkDialog
            {...{ project, run }}
            word={asked}
            was={mark}
            onClose={() => setAsked(null)}
            onMarked={(marked) => offerUndo(marked, () => undo.mutate(writeOf(marked.before)))}
          />
        </Suspense>
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
