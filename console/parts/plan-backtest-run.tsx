/** What a change would have done over stored events: started by a button, with its progress, cancelled by another. */

import {
  Button,
  Group,
  List,
  Paper,
  Progress,
  SegmentedControl,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import {
  changeWords,
  daysWords,
  dollarWords,
  labelName,
  REASON_WORDS,
  rangeWords,
  suppressedWords,
} from '../../schemas/backtest-words.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type { PlanBacktest, PlanBacktestRequest, PlanBacktestTrigger } from '../../schemas/types.ts'
import { declared } from '../declared-client.ts'
import { BeforeAfterChart } from './before-after-chart.tsx'
import { Fold } from './fold.tsx'
import { Mark } from './mark.tsx'
import { Failed } from './states.tsx'
import { When } from './when.tsx'

const WINDOWS = ['24h', '7d', '30d'] as const
const KEYS = 10
const LISTED = 20
/** Triggers that are shown at once, each with its chart. */
const TRIGGERS = 8
/** Columns that a phone has room for; more are scrolled sideways. */
const NARROW = 3

type Trial =
  | { is: 'idle' }
  | { is: 'running'; part: number }
  | { is: 'done'; answer: PlanBacktest }
  | { is: 'failed'; error: Error }

interface Props {
  /** As POST /api/change-sets/backtest takes it; another change is another section: give it a key. */
  change: Omit<PlanBacktestRequest, 'window'>
}

export function PlanBacktestRun({ change }: Props) {
  const [window, setWindow] = useState<string>('7d')
  const [trial, setTrial] = useState<Trial>({ is: 'idle' })
  const running = useRef<AbortController>(null)
  useEffect(() => () => running.current?.abort(), [])
  const run = async () => {
    running.current?.abort()
    const asked = new AbortController()
    running.current = asked
    setTrial({ is: 'running', part: 0 })
    const shown = (next: Trial) => {
      if (running.current === asked && !asked.signal.aborted) setTrial(next)
    }
    try {
      const answer = await declared.backtestChange({ ...change, window }, asked.signal, ({ done, of }) =>
        shown({ is: 'running', part: done / Math.max(1, of) }),
      )
      shown({ is: 'done', answer })
    } catch (error) {
      shown({ is: 'failed', error: error as Error })
    }
  }
  const cancel = () => {
    running.current?.abort()
    setTrial({ is: 'idle' })
  }
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Backtest of the plan">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={3}>Backtest</Title>
          <Group gap="xs">
            <SegmentedControl
              size="xs"
              aria-label="How far back"
              data={[...WINDOWS]}
              value={window}
              onChange={setWindow}
              disabled={trial.is === 'running'}
            />
            {trial.is === 'running' ? (
              <Button size="xs" variant="default" onClick={cancel}>
                Cancel
              </Button>
            ) : (
              <Button size="xs" variant="default" onClick={() => void run()}>
                Run backtest
              </Button>
            )}
          </Group>
        </Group>
        {trial.is === 'idle' && (
          <Text size="sm" c="dimmed">
            Stored events run through the triggers before and after the change.
          </Text>
        )}
        {trial.is === 'running' && (
          <Progress value={trial.part * 100} aria-label="Progress of the backtest" />
        )}
        {trial.is === 'failed' && (
          <Failed what="the backtest" error={trial.error} onRetry={() => void run()} />
        )}
        {trial.is === 'done' && <Answer answer={trial.answer} />}
      </Stack>
    </Paper>
  )
}

function Answer({ answer }: { answer: PlanBacktest }) {
  const { days, scanned, triggers, unreached, labels, agents, notes } = answer
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? triggers : triggers.slice(0, TRIGGERS)
  return (
    <Stack gap="md">
      <Text size="sm" role="status">
        {triggers.length === 0 ? 'No trigger fires differently. ' : ''}
        {countWords(scanned, 'event')} of {daysWords(days)} looked at
        {unreached > 0 && `; ${countWords(unreached, 'other trigger')} as before`}.
      </Text>
      {shown.map((trigger) => (
        <TriggerTrial key={trigger.trigger} trigger={trigger} bucket={answer.bucket} />
      ))}
      {shown.length < triggers.length && (
        <Button size="xs" variant="default" style={{ alignSelf: 'start' }} onClick={() => setWhole(true)}>
          Show {countWords(triggers.length - shown.length, 'more trigger')}
        </Button>
      )}
      {labels.map((of) => (
        <LabelsTrial key={of.source} of={of} />
      ))}
      {agents.length > 0 && <AgentsTrial agents={agents} />}
      {notes.length > 0 && <Unknown notes={notes} />}
    </Stack>
  )
}

function TriggerTrial({ trigger, bucket }: { trigger: PlanBacktestTrigger; bucket: string }) {
  const { buckets, keys, key_count, list, before, after, notes } = trigger
  const suppressed = suppressedWords(before, after)
  const differing = list.filter(({ is }) => is !== 'same').slice(0, LISTED)
  return (
    <section aria-label={`Backtest of ${trigger.trigger}`}>
      <Group gap="xs">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {trigger.trigger}
        </Text>
        <Mark tone="quiet">{REASON_WORDS[trigger.change]}</Mark>
      </Group>
      <Text size="sm">{changeWords(trigger)}</Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {trigger.sentence}
      </Text>
      {keys.length > 0 && (
        <BeforeAfterChart
          buckets={buckets}
          bucket={bucket}
          label={`Firings of ${trigger.trigger} before and after`}
        />
      )}
      {suppressed.length > 0 && (
        <Text size="xs" c="dimmed">
          {suppressed.join('; ')}
        </Text>
      )}
      {notes.length > 0 && <Unknown notes={notes} />}
      {keys.length > 0 && (
        <Fold title="Entities" hint={countWords(key_count, 'entity').replace(/entitys$/, 'entities')}>
          <Cells
            label={`Entities of ${trigger.trigger}`}
            titles={['Entity', 'Before', 'After']}
            rows={keys
              .slice(0, KEYS)
              .map(({ key, before: was, after: is }) => [key, String(was), String(is)])}
          />
          {key_count > KEYS && (
            <Text size="xs" c="dimmed">
              and {key_count - KEYS} more
            </Text>
          )}
        </Fold>
      )}
      {differing.length > 0 && (
        <Fold
          title="Firings that differ"
          hint={`newest ${differing.length} of ${trigger.added + trigger.gone}`}
        >
          <List size="sm">
            {differing.map(({ is, at, key, resolved }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and two may be the same.
              <List.Item key={`${at} ${key} ${i}`} style={{ overflowWrap: 'anywhere' }}>
                {is}: {key} <When at={at} /> {resolved && '(resolved)'}
              </List.Item>
            ))}
          </List>
        </Fold>
      )}
    </section>
  )
}

function LabelsTrial({ of }: { of: PlanBacktest['labels'][number] }) {
  const { source, events, labels, not_stored, unreadable } = of
  return (
    <section aria-label={`Labels of ${source}`}>
      <Text fw={600}>Labels of {source}</Text>
      <Text size="sm">
        {countWords(events, 'event')} labelled again
        {labels.length === 0 && ': no label differs'}
        {not_stored > 0 && `; ${countWords(not_stored, 'event')} would not be stored`}
        {unreadable > 0 && `; ${countWords(unreadable, 'event')} could not be read again`}
      </Text>
      {labels.length > 0 && (
        <Cells
          label={`Labels of ${source} that differ`}
          titles={['Label', 'Lost', 'Gained', 'Changed', 'Example']}
          rows={labels.map(({ label, lost, gained, changed, examples: [first] }) => [
            ...[labelName(label), String(lost), String(gained), String(changed)],
            first ? `${first.from ?? 'none'} → ${first.to ?? 'none'}` : '',
          ])}
        />
      )}
    </section>
  )
}

function AgentsTrial({ agents }: { agents: PlanBacktest['agents'] }) {
  return (
    <section aria-label="Expected runs">
      <Text fw={600}>Expected in a week</Text>
      <Cells
        label="Expected runs and cost in a week"
        titles={['Agent', 'Runs before', 'Runs after', 'Cost before', 'Cost after']}
        rows={agents.map(({ agent, runs_before, runs_after, usd_before, usd_after }) => [
          agent,
          rangeWords(runs_before),
          rangeWords(runs_after),
          dollarWords(usd_before),
          dollarWords(usd_after),
        ])}
      />
      {agents.map(({ agent, basis }) => (
        <Text key={agent} size="xs" c="dimmed">
          {agent}: {basis}
        </Text>
      ))}
    </section>
  )
}

function Unknown({ notes }: { notes: readonly string[] }) {
  return (
    <List size="xs" c="dimmed">
      {notes.map((note) => (
        <List.Item key={note} style={{ overflowWrap: 'anywhere' }}>
          Not known: {note}
        </List.Item>
      ))}
    </List>
  )
}

function Cells({
  label,
  titles,
  rows,
}: {
  label: string
  titles: readonly string[]
  rows: readonly (readonly string[])[]
}) {
  return (
    <Table.ScrollContainer minWidth={titles.length > NARROW ? 560 : 320} type="native">
      <Table verticalSpacing={3} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {titles.map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells) => (
            <Table.Tr key={cells[0]}>
              {cells.map((cell, i) => (
                <Table.Td key={titles[i]} style={{ overflowWrap: 'anywhere' }}>
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
