/** The runs of a chain, first to last, and whom this one handed over to. */
import { Group, List, Paper, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Run, RunDetail } from '../../../schemas/types.ts'
import { agentPath, runPath } from '../../lib/paths.ts'
import { handoffWords } from '../../lib/runs.ts'
import { money } from '../../lib/time.ts'
import { Mark } from '../../parts/mark.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Section } from '../../parts/section.tsx'
import { VerdictChip } from '../../parts/verdict-chip.tsx'
import { When } from '../../parts/when.tsx'

export function RunChain({ run }: { run: RunDetail }) {
  const refused = run.handoffs.filter(({ to_run }) => to_run === null)
  return (
    <Section title="Chain">
      <Stack gap="sm">
        {run.chain.length > 1 && (
          <List type="ordered" spacing="xs" aria-label="Runs of the chain">
            {run.chain.map((one) => (
              <List.Item key={one.id}>
                <ChainRun run={one} isThis={one.id === run.id} />
              </List.Item>
            ))}
          </List>
        )}
        {run.handoffs.length > 0 && (
          <Paper withBorder p="sm" radius="md">
            <Stack gap={4} role="list" aria-label="Handoffs">
              {[...run.handoffs.filter(({ to_run }) => to_run !== null), ...refused].map((handoff) => {
                const { tone, words } = handoffWords(handoff)
                return (
                  <Group gap="xs" key={`${handoff.to_agent} ${handoff.at}`} role="listitem">
                    <Text size="sm">
                      On <b>{handoff.verdict}</b> to{' '}
                      <Link to={handoff.to_run ? runPath(handoff.to_run) : agentPath(handoff.to_agent)}>
                        {handoff.to_agent}
                      </Link>
                    </Text>
                    <Mark tone={tone}>{words.split(':')[0]!}</Mark>
                    {words.includes(':') && <Text size="sm">{words.slice(words.indexOf(':') + 2)}</Text>}
                    <Text size="xs" c="dimmed" component="div">
                      <When at={handoff.at} />
                    </Text>
                  </Group>
                )
              })}
            </Stack>
          </Paper>
        )}
      </Stack>
    </Section>
  )
}

function ChainRun({ run, isThis }: { run: Run; isThis: boolean }) {
  return (
    <Group gap="xs">
      {isThis ? (
        <Text component="strong" size="sm" fw={700} aria-current="true">
          {run.agent} (this run)
        </Text>
      ) : (
        <Link to={runPath(run.id)}>{run.agent}</Link>
      )}
      <RunMarks run={run} />
      {run.verdict && <VerdictChip of={run.verdict} isFinding={run.outcome === 'finding'} />}
      {run.headline && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {run.headline}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {money(run.cost_usd)}
      </Text>
    </Group>
  )
}
