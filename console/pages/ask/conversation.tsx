/** The turns of a conversation, the one that is coming in last. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import { RotateCcw } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { AskTurn } from '../../../schemas/types.ts'
import { type AskView, answerOf, linked, type Task, viewOf, waitWords } from '../../lib/ask.ts'
import { clock, count, money, took } from '../../lib/time.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { MarkdownText } from '../../parts/markdown.tsx'
import { Failed } from '../../parts/states.tsx'

import { ChangeCard } from './change-card.tsx'
import { ToolCall } from './tool-call.tsx'
import type { Asking } from './use-ask.ts'

interface Props {
  asking: Asking
  isAdmin: boolean
}

export function Conversation({ asking, isAdmin }: Props) {
  const { turns, leftOut, live, isBusy } = asking
  const end = useRef<HTMLDivElement>(null)
  const size = live ? live.view.blocks.length : turns.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has grown is scrolled to.
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' })
  }, [size, live?.question])
  return (
    <Stack gap="xl" className="ask-turns">
      {/* A turn that is coming in and the same one as stored are one element, told by its id: a click on its card, what
          is typed there and the focus outlive the end of the answer. */}
      {turns
        .map((turn, i) => (
          <Turn
            isLastLeftOut={i + 1 === leftOut}
            key={turn.id}
            question={turn.question}
            view={{ ...viewOf(turn.frames), turn: turn.id }}
            asking={asking}
            isAdmin={isAdmin}
          >
            <Ending turn={turn} asking={asking} canRetry={i === turns.length - 1 && !live} />
          </Turn>
        ))
        .concat(
          live ? (
            <Turn
              key={live.view.turn ?? 'live'}
              question={live.question}
              view={live.view}
              asking={asking}
              isAdmin={isAdmin}
            >
              {live.error && <Failed title="Couldn’t answer" error={live.error} onRetry={asking.again} />}
            </Turn>
          ) : (
            []
          ),
        )}
      <div role="status" className="ask-status">
        {isBusy && (
          <Group gap="xs">
            <Loader size="xs" type="dots" aria-hidden />
            <Text size="sm" c="dimmed">
              {workWords(live?.view)}
            </Text>
          </Group>
        )}
      </div>
      <div ref={end} className="ask-end" />
    </Stack>
  )
}

function workWords(view: AskView | undefined): string {
  if (view?.waiting) return waitWords(view.waiting, (at) => clock(at, Date.now()))
  const last = view?.blocks.at(-1)
  if (last?.kind === 'tool' && last.ok === null) return `Looking: ${last.name.replaceAll('_', ' ')}…`
  return last?.kind === 'text' ? 'Answering…' : 'Thinking…'
}

const taskOf = ({ step }: AskTurn): Task => step ?? 'ask'

/** What stands under a turn that is stored: how it ended, and what can be done with it. */
function Ending({ turn, asking, canRetry }: { turn: AskTurn; asking: Asking; canRetry: boolean }) {
  const { question, state, error } = turn
  const again = () => asking.ask(question, taskOf(turn), turn.id)
  const answer = answerOf(viewOf(turn.frames))
  return (
    <>
      {state === 'failed' && (
        <Failed
          title="Couldn’t answer"
          error={new Error(error ?? 'There is no answer.')}
          {...(canRetry ? { onRetry: again } : {})}
        />
      )}
      {state === 'cancelled' && (
        <Text size="sm" c="dimmed">
          Stopped.
        </Text>
      )}
      {state !== 'running' && (
        <Group gap="xs">
          {answer && <CopyIcon value={answer} label="Copy the answer" />}
          {canRetry && state !== 'failed' && (
            <Button
              variant="subtle"
              size="compact-xs"
              leftSection={<RotateCcw size={13} aria-hidden />}
              onClick={again}
            >
              Ask again
            </Button>
          )}
          <Text size="xs" c="dimmed">
            {factsOf(turn)}
          </Text>
        </Group>
      )}
    </>
  )
}

function factsOf({ model, input_tokens, output_tokens, cost_usd, asked_at, finished_at }: AskTurn): string {
  const ms = finished_at === null ? null : Date.parse(finished_at) - Date.parse(asked_at)
  return [
    model,
    took(ms),
    `${count(input_tokens + output_tokens)} tokens`,
    cost_usd === null ? 'not priced' : money(cost_usd),
  ].join(' · ')
}

interface TurnProps extends Props {
  question: string
  view: AskView
  /** What is asked next is answered without it, and without those before. */
  isLastLeftOut?: boolean
  children?: React.ReactNode
}

function Turn({ question, view, asking, isAdmin, isLastLeftOut = false, children }: TurnProps) {
  return (
    <article className="ask-turn" aria-label={question.slice(0, 120)}>
      <h2 className="ask-question">{question}</h2>
      <Stack gap="sm" className="ask-answer">
        {view.blocks.map((block, i) => {
          if (block.kind === 'tool')
            // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added.
            return <ToolCall key={i} call={block} />
          if (block.kind === 'proposal') {
            const key = `${view.turn}/${block.id}`
            return (
              <ChangeCard
                key={key}
                proposal={block.proposal}
                applied={asking.cards.applied[key]}
                isAdmin={isAdmin}
                onApplied={(said) => asking.keepCard(key, said)}
              />
            )
          }
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added.
          return <MarkdownText key={i} text={linked(block.text)} isNested />
        })}
        {children}
      </Stack>
      {isLastLeftOut && (
        <Text
          size="sm"
          c="dimmed"
          ta="center"
          mt="xl"
          pb="xs"
          style={{ borderBottom: '1px solid var(--mantine-color-default-border)' }}
        >
          Ask no longer sees what is above: the conversation is too long
        </Text>
      )}
    </article>
  )
}
