/** The steps of a run in their order, each with when it was, how long it took and what it cost. */
import { Text } from '@mantine/core'
import type { RunDetail } from '../../../schemas/types.ts'
import type { Chapter } from '../../lib/run-story.ts'
import { isOpen } from '../../lib/runs.ts'
import { clock, money, took } from '../../lib/time.ts'
import { useNow } from '../../parts/use-now.ts'
import { StepText, toneOf } from './step.tsx'

interface Props {
  run: RunDetail
  chapters: readonly Chapter[]
}

export function RunStory({ run, chapters }: Props) {
  const now = useNow(1_000)
  if (chapters.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {isOpen(run) ? 'No steps yet.' : 'Steps expired.'}
      </Text>
    )
  const entity = { label: run.label, value: run.key }
  return (
    <ol className="story" aria-label="Steps">
      {chapters.map((step) => (
        <li key={step.n} data-kind={step.kind}>
          <div className="story-when">
            <time dateTime={step.at} title={step.at}>
              {clock(step.at, now)}
            </time>
            <div>{timing(step, run, now)}</div>
            {step.kind === 'model' && step.text !== null && (
              <div title={step.cost === null ? 'Not priced' : ''}>{money(step.cost)}</div>
            )}
          </div>
          <div className="story-what" data-tone={toneOf(step)}>
            <StepText step={step} entity={entity} />
          </div>
        </li>
      ))}
    </ol>
  )
}

/** What took no time of its own says none. */
function timing(step: Chapter, run: RunDetail, now: number): string {
  if (step.ms === null)
    return isOpen(run) ? `${took(Math.max(0, now - Date.parse(step.at)))} so far` : 'not completed'
  return step.kind === 'model' || step.kind === 'tool' ? took(step.ms) : ''
}
