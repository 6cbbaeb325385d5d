/** Where a question is typed: Enter sends, Shift and Enter begin a line. */
import { ActionIcon, Group, NativeSelect, Text, Textarea } from '@mantine/core'
import { ArrowUp, Square } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { TASKS, type Task } from '../../lib/ask.ts'
import { notifications } from '../../lib/notices.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { Tooltip } from '../../parts/tooltip.tsx'
import type { Asking } from './use-ask.ts'

const QUESTION_MAX = 32_000

interface Props {
  asking: Asking
  /** What it begins with; empty: with what was typed here before. */
  given: string
  /** Of the conversation; undefined: it has not begun. */
  path: string | undefined
  isAdmin: boolean
}

export function Composer({ asking, given, path, isAdmin }: Props) {
  const { isBusy } = asking
  const kept = useDraft({ form: 'question', start: given, isGiven: given !== '', at: path })
  const question = kept.value
  const [task, setTask] = useState<Task>('ask')
  const field = useRef<HTMLTextAreaElement>(null)
  usePageKeys([['/', () => field.current?.focus()]])
  useEffect(() => {
    const area = field.current
    if (!area) return
    area.focus({ preventScroll: true })
    area.setSelectionRange(area.value.length, area.value.length)
  }, [])
  const isReady = question.trim() !== '' && !isBusy
  const send = () => {
    if (!isReady) return
    asking.ask(question.trim(), task)
    kept.fill('')
  }
  const stop = () =>
    asking.stop().catch((error: Error) => {
      notifications.show({ color: 'red', title: 'Couldn’t stop the answer', message: error.message })
    })
  return (
    <form
      className="ask-composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <Textarea
        ref={field}
        aria-label="Question"
        placeholder={isBusy ? 'Answering…' : 'Ask about what happened, and why'}
        value={question}
        onChange={(event) => kept.set(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
        autosize
        minRows={2}
        maxRows={10}
        maxLength={QUESTION_MAX}
        variant="unstyled"
        px="sm"
      />
      <Group justify="space-between" gap="xs" px="xs" pb="xs" wrap="nowrap">
        {isAdmin ? (
          <NativeSelect
            size="xs"
            aria-label="What it is for"
            data={TASKS.map(({ value, label }) => ({ value, label }))}
            value={task}
            onChange={(event) => setTask(event.currentTarget.value as Task)}
          />
        ) : (
          <span />
        )}
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed" visibleFrom="sm">
            Enter sends
          </Text>
          {isBusy ? (
            <Tooltip label="Stop">
              <ActionIcon size="lg" color="red" aria-label="Stop" onClick={() => void stop()}>
                <Square size={15} aria-hidden />
              </ActionIcon>
            </Tooltip>
          ) : (
            <Tooltip label="Send">
              <ActionIcon size="lg" type="submit" aria-label="Send" disabled={!isReady}>
                <ArrowUp size={18} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
    </form>
  )
}
