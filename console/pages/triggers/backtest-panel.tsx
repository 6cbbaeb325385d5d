/** Beside the editor: when the draft would have fired, and how that differs from what is stored. */
import {
  Alert,
  Anchor,
  Button,
  Group,
  Loader,
  Paper,
  SegmentedControl,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core'
import { useState } from 'react'
import type { BacktestResult, TriggerDefinition } from '../../../schemas/types.ts'
import {
  BACKTEST_WINDOWS,
  chartBuckets,
  keyChanges,
  reasonWords,
  shortNumber,
  staleWords,
} from '../../lib/backtest.ts'
import { count, moment } from '../../lib/time.ts'
import { FiringChart } from '../../parts/firing-chart.tsx'
import { useNow } from '../../parts/use-now.ts'
import { When } from '../../parts/when.tsx'
import { ThresholdSlider } from './threshold-slider.tsx'
import type { Trial } from './use-backtest.ts'

interface Props {
  /** Null: not filled in yet. */
  definition: TriggerDefinition | null
  /** Of a threshold, to try other numbers. */
  number?: { value: string; set: (value: string) => void; isWhole: boolean }
  window: string
  onWindow: (window: string) => void
  trial: Trial
}

export function BacktestPanel({ definition, number, window, onWindow, trial }: Props) {
  const { data, error, isRunning } = trial
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="What it would have done">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Title order={2}>Backtest</Title>
            {isRunning && <Loader role="img" size={14} aria-label="Trying it out" />}
          </Group>
          <SegmentedControl
            size="xs"
            aria-label="How far back"
            data={[...BACKTEST_WINDOWS]}
            value={window}
            onChange={onWindow}
          />
        </Group>
        {definition === null ? (
          <Text size="sm" c="dimmed">
            Choose a source and fill in the condition: stored events are tried as you type.
          </Text>
        ) : error ? (
          <Alert color="red" role="alert" title="Backtest failed">
            {error.message}
          </Alert>
        ) : data ? (
          <>
            <Headline data={data} />
            <Stale trial={trial} />
            <FiringChart
              buckets={chartBuckets(data)}
              label={`Firings over the last ${window}: ${data.result.firings}${data.compare ? `, ${data.compare.firings} as stored` : ''}`}
              lengthMs={
                (Date.parse(data.to) - Date.parse(data.from)) / Math.max(1, data.result.buckets.length)
              }
            />
            {number && <ThresholdSlider {...number} peak={data.result.peak} />}
            <Reasons reasons={data.result.reasons} />
            <Keys data={data} />
            <Newest data={data} />
          </>
        ) : (
          <div style={{ height: 220 }} />
        )}
      </Stack>
    </Paper>
  )
}

/** That what is shown is of another definition, or older than it may be. */
function Stale({ trial: { at, isOther, isRunning, again } }: Pick<Props, 'trial'>) {
  const now = useNow()
  const words = staleWords({ at, isOther, now })
  if (!words) return null
  return (
    <Alert color="yellow" p="xs" role="status">
      <Group gap="xs">
        <Text size="sm">{words}</Text>
        {!isOther && (
          <Button size="compact-xs" variant="default" loading={isRunning} onClick={again}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  )
}

function Headline({ data }: { data: BacktestResult }) {
  const { firings, matched } = data.result
  return (
    <div>
      <Text role="status">
        <Text span fw={700} size="lg">
          {count(firings)} {firings === 1 ? 'time' : 'times'}
        </Text>
        {data.compare && (
          <Text span c="dimmed">
            {' '}
            · {count(data.compare.firings)} as stored
          </Text>
        )}
      </Text>
      <Text size="sm" c="dimmed">
        {count(matched)} of {count(data.scanned)} events match. {count(data.result.matched_last_hour)} in the
        last hour.
      </Text>
      {data.truncated && (
        <Alert color="yellow" mt="xs" p="xs">
          More events than can be checked: this begins at {moment(Date.parse(data.from), Date.now())}.
        </Alert>
      )}
      {data.entities_changed_at !== null && (
        <Alert color="yellow" mt="xs" p="xs">
          Joined entities were changed {moment(Date.parse(data.entities_changed_at), Date.now())}: events
          before that are judged by the entities of now, not as they were when they came.
        </Alert>
      )}
    </div>
  )
}

function Reasons({ reasons }: { reasons: Record<string, number> }) {
  const told = Object.entries(reasons)
    .filter(([, n]) => n > 0)
    .sort(([, a], [, b]) => b - a)
  if (told.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600}>
        Why events did not
      </Text>
      <Text size="sm" c="dimmed">
        {told.map(([reason, n]) => `${reasonWords(reason)} ${count(n)}`).join(' · ')}
      </Text>
    </div>
  )
}

const KEYS_SHOWN = 8

function Keys({ data }: { data: BacktestResult }) {
  const changes = keyChanges(data.result, data.compare)
  if (changes.length === 0) return null
  return (
    <div>
      <Table verticalSpacing={3} aria-label="Firings by entity">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Entity</Table.Th>
            {data.compare && <Table.Th ta="right">As stored</Table.Th>}
            <Table.Th ta="right">{data.compare ? 'Now' : 'Firings'}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.slice(0, KEYS_SHOWN).map(({ key, firings, before }) => (
            <Table.Tr key={key}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{key || '(no entity)'}</Table.Td>
              {before !== null && <Table.Td ta="right">{count(before)}</Table.Td>}
              <Table.Td ta="right" fw={before !== null && before !== firings ? 700 : 400}>
                {count(firings)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {changes.length > KEYS_SHOWN && (
        <Text size="xs" c="dimmed">
          and {changes.length - KEYS_SHOWN} more entities
        </Text>
      )}
    </div>
  )
}

const NEWEST_SHOWN = 6

function Newest({ data }: { data: BacktestResult }) {
  const [all, setAll] = useState(false)
  const { list } = data.result
  if (list.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600} mb={2}>
        The newest
      </Text>
      <Stack gap={2} style={{ maxHeight: 320, overflowY: 'auto' }} tabIndex={all ? 0 : undefined}>
        {list.slice(0, all ? list.length : NEWEST_SHOWN).map((one) => (
          <Text size="sm" key={`${one.at} ${one.key} ${one.resolved}`} style={{ overflowWrap: 'anywhere' }}>
            <When at={one.at} /> · {one.key || '(no entity)'}
            {one.value !== null && ` · ${shortNumber(one.value)}`} ·{' '}
            {one.resolved ? 'over' : `${count(one.events)} ${one.events === 1 ? 'event' : 'events'}`}
            {one.held_back > 0 && ` · ${count(one.held_back)} held back until then`}
          </Text>
        ))}
      </Stack>
      {list.length > NEWEST_SHOWN && (
        <Anchor component="button" type="button" size="sm" onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show ${count(list.length)}`}
        </Anchor>
      )}
    </div>
  )
}
