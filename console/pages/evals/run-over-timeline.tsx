/** One run with the truth laid over its timeline, what it claimed, and what it asked and was answered. */

import { Alert, Drawer, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { faultOf, passes } from '../../../schemas/eval-figures.ts'
import type { EvalRun, EvalScene } from '../../../schemas/types.ts'
import { type Chosen, type MarkedEvent, markedEvents, tellsSomething } from '../../lib/evals.ts'
import { count } from '../../lib/time.ts'
import { Fold } from '../../parts/fold.tsx'
import { Mark, type Tone } from '../../parts/mark.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { Scripted } from './figures-table.tsx'

interface Props extends Chosen {
  scenes: readonly EvalScene[]
  onClose: () => void
}

export function RunOverTimeline({ row, column, scenes, onClose }: Props) {
  const runs = row.runs.get(column.id) ?? []
  const [repeat, setRepeat] = useState(String(runs[0]?.repeat ?? 1))
  const run = runs.find((one) => String(one.repeat) === repeat) ?? runs[0]!
  const scene = scenes.find((one) => one.scenario === row.scenario && one.noise === column.noise)
  return (
    <Drawer opened onClose={onClose} position="right" size="xl" title={`${row.scenario}: ${column.variant}`}>
      <Stack>
        {column.scripted && (
          <Text size="sm" component="div">
            <Scripted /> A program answered, no model.
          </Text>
        )}
        {runs.length > 1 && (
          <SegmentedControl
            aria-label="Repeat"
            data={runs.map((one) => ({ value: String(one.repeat), label: `Repeat ${one.repeat}` }))}
            value={repeat}
            onChange={setRepeat}
          />
        )}
        <Came run={run} />
        {scene && <Timeline scene={scene} run={run} />}
        <Claims run={run} />
        <Turns run={run} />
      </Stack>
    </Drawer>
  )
}

function Came({ run }: { run: EvalRun }) {
  const { score, stale } = run
  if (stale !== null)
    return (
      <Alert color="yellow" title="Stale: the tape no longer fits">
        {stale}. The run has neither passed nor failed; record the tape again.
      </Alert>
    )
  const words = `Cause ${score.cause.toFixed(2)}, evidence ${score.evidence_recall.toFixed(2)}, shown ${score.reached.toFixed(2)}, ${count(run.input_tokens)} tokens, ${count(run.calls)} tools called`
  return passes(run) ? (
    <Alert color="teal" title="Pass">
      {words}
    </Alert>
  ) : (
    <Alert color="red" title={`Failed: ${faultOf(run)}`}>
      {words}
    </Alert>
  )
}

function Timeline({ scene, run }: { scene: EvalScene; run: EvalRun }) {
  const facts = new Set<string>()
  const told = markedEvents(scene, run).filter((marked) => {
    const isFirst = marked.event.facts.some(({ id }) => !facts.has(id))
    for (const { id } of marked.event.facts) facts.add(id)
    return tellsSomething(marked, isFirst)
  })
  return (
    <section aria-label="Truth over the timeline">
      <Title order={3} fz="md" mb={4}>
        Truth over the timeline
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        Events of the truth, innocent events that mislead, and what the run cited, up to the firing for{' '}
        {scene.entity} at {scene.fired_at.slice(11, 19)} UTC.
      </Text>
      {told.length === 0 ? (
        <Text size="sm">
          {scene.outcome === 'finding'
            ? 'Nothing to show.'
            : 'There was no cause to find, and nothing was cited.'}
        </Text>
      ) : (
        <WideTable minWidth={420}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Time</Table.Th>
                <Table.Th>Event</Table.Th>
                <Table.Th>In truth</Table.Th>
                <Table.Th>The run</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {told.map((marked) => (
                <EventLine key={marked.event.id} of={marked} />
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
    </section>
  )
}

const TRUTH: Record<NonNullable<MarkedEvent['truth']>, { tone: Tone; word: string }> = {
  cause: { tone: 'bad', word: 'cause' },
  effect: { tone: 'busy', word: 'effect' },
  decoy: { tone: 'quiet', word: 'decoy' },
}

function EventLine({ of: { event, truth, cited, shown, missed } }: { of: MarkedEvent }) {
  const { at, source, type, text, id, count: stands } = event
  return (
    <Table.Tr>
      <Table.Td className="mono" style={{ whiteSpace: 'nowrap', verticalAlign: 'top' }}>
        {at.slice(11, 19)}
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Text size="xs" c="dimmed">
          {source} {type} {id}
          {stands > 1 && `, stands for ${count(stands)}`}
        </Text>
        {text}
      </Table.Td>
      <Table.Td style={{ verticalAlign: 'top' }}>
        {truth ? <Mark tone={TRUTH[truth].tone}>{TRUTH[truth].word}</Mark> : 'nothing'}
      </Table.Td>
      <Table.Td style={{ verticalAlign: 'top' }}>
        {cited.length > 0 && <Mark tone="good">{`cited as ${cited[0]!.replace('_', ' ')}`}</Mark>}
        {cited.length === 0 && missed && (
          <Mark tone="bad">{shown ? 'shown, missed' : 'not shown, missed'}</Mark>
        )}
        {cited.length === 0 && !missed && (shown ? 'shown' : 'not shown')}
      </Table.Td>
    </Table.Tr>
  )
}

function Claims({ run }: { run: EvalRun }) {
  return (
    <section aria-label="Claims">
      <Title order={3} fz="md" mb={4}>
        What it claimed
      </Title>
      {run.headline && <Text fw={500}>{run.headline}</Text>}
      {run.claims.length === 0 ? (
        <Text size="sm" c="dimmed">
          {run.outcome === 'no_op' ? 'Nothing to report.' : 'No claim.'}
        </Text>
      ) : (
        <ul style={{ margin: 0 }}>
          {run.claims.map(({ text, role, events, ok }) => (
            <li key={`${role} ${text} ${events.join()}`} style={{ overflowWrap: 'anywhere' }}>
              {text} <span className="mono">{events.join(' ')}</span> ({role.replace('_', ' ')},{' '}
              {ok ? 'holds' : 'does not hold'})
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Turns({ run }: { run: EvalRun }) {
  if (run.turns.length === 0) return null
  return (
    <section aria-label="What it asked">
      <Title order={3} fz="md" mb={4}>
        What it asked and was answered
      </Title>
      <Stack gap="xs">
        {run.turns.map(({ round, said, calls }, turn) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns never move, and rounds repeat after a cut.
          <div key={turn}>
            <Text size="xs" c="dimmed">
              Round {round}
            </Text>
            {said && <Text size="sm">{said}</Text>}
            {calls.map(({ tool, arguments: given, answer, failed }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: calls of a turn never move.
              <Fold key={i} title={`${tool}${failed ? ', refused' : ''} ${given}`}>
                <pre className="mono" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', margin: 0 }}>
                  {answer ?? 'no answer'}
                </pre>
              </Fold>
            ))}
          </div>
        ))}
      </Stack>
    </section>
  )
}
