/** What an agent is tested by, and what tests over it came to. */

import { ActionIcon, Alert, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { AgentExample, AgentTest } from '../../../schemas/types.ts'
import { agentTests, tkeys } from '../../agent-test-client.ts'
import { changeWords, expectedWords, testTone, totalsWords } from '../../lib/agent-tests.ts'
import { runPath } from '../../lib/paths.ts'
import { money, took } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { Mark } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/section.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { WideTable } from '../../parts/wide-table.tsx'

const OPEN_MS = 2_000

export function AgentTests({ agent }: { agent: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: tkeys.examples(agent),
    queryFn: () => agentTests.examples(agent),
  })
  if (error) return <Failed what="the tests" error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingRows />
  if (data.examples.length === 0)
    return (
      <Empty title="No examples yet">
        An example is a past run with what the agent should make of it. Open a run that shows a case well and
        choose “Keep as example”. Then a changed prompt or model is tried over all of them before it ships.
      </Empty>
    )
  return (
    <Stack gap="lg" maw={1180}>
      <Section
        title="Examples"
        aside={
          <Acts>
            <Start agent={agent} />
          </Acts>
        }
      >
        <Examples agent={agent} examples={data.examples} />
      </Section>
      <Section title="Tests">
        <Tests agent={agent} />
      </Section>
    </Stack>
  )
}

function Start({ agent }: { agent: string }) {
  const [choice, setChoice] = useState({ provider: '', model: '' })
  const start = useChange(
    () =>
      agentTests.start(agent, {
        ...(choice.provider ? { provider: choice.provider } : {}),
        ...(choice.model ? { model: choice.model } : {}),
      }),
    { failed: 'Couldn’t start the test', said: () => 'Test started: one practice run per example' },
  )
  return (
    <Group gap="sm" align="flex-end">
      <ModelPicker value={choice} onChange={setChoice} />
      <Button loading={start.isPending} onClick={() => start.mutate(undefined)}>
        Run all
      </Button>
    </Group>
  )
}

function Examples({ agent, examples }: { agent: string; examples: readonly AgentExample[] }) {
  const remove = useChange((id: string) => agentTests.removeExample(agent, id), {
    failed: 'Couldn’t remove the example',
    said: () => 'Example removed',
  })
  return (
    <Rows
      label="Examples"
      columns={[{ name: 'Example', isHead: true }, 'About', 'Expected', { name: 'Remove', isUnnamed: true }]}
    >
      {examples.map((example) => (
        <Row key={example.id}>
          <Cell>
            <RowLink to={runPath(example.run_id)}>{example.name}</RowLink>
          </Cell>
          <Cell isMono>
            {example.label}={example.key}
          </Cell>
          <Cell>{expectedWords(example)}</Cell>
          <Cell>
            <Acts>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove ${example.name}`}
                onClick={() => remove.mutate(example.id)}
              >
                <Trash2 size={16} aria-hidden />
              </ActionIcon>
            </Acts>
          </Cell>
        </Row>
      ))}
    </Rows>
  )
}

function Tests({ agent }: { agent: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: tkeys.tests(agent),
    queryFn: () => agentTests.list(agent),
    refetchInterval: ({ state }) =>
      state.data?.tests.some(({ status }) => status === 'running') ? OPEN_MS : false,
  })
  if (error) return <Failed what="the tests" error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingRows rows={3} />
  if (data.tests.length === 0) return <Text size="sm">No test was run yet.</Text>
  return (
    <Stack gap="lg">
      {data.tests.map((test) => (
        <Test key={test.id} test={test} />
      ))}
    </Stack>
  )
}

function Test({ test }: { test: AgentTest }) {
  const change = changeWords(test)
  return (
    <section aria-label={`Test of ${test.made_at}`}>
      <Group gap="sm" mb={4}>
        <Mark tone={testTone(test)}>{test.status}</Mark>
        <When at={test.made_at} />
        <Text size="sm">{totalsWords(test)}</Text>
      </Group>
      {change && (
        <Alert p="xs" mb="xs" color={test.change?.newly_failing.length ? 'yellow' : 'gray'}>
          {change}
        </Alert>
      )}
      <WideTable minWidth={520}>
        <Table aria-label={`Examples of the test of ${test.made_at}`} verticalSpacing={4}>
          <Table.Tbody>
            {test.examples.map((example) => (
              <Table.Tr key={example.id}>
                <Table.Td w={90}>
                  <Mark
                    tone={example.result === 'pass' ? 'good' : example.result === 'fail' ? 'bad' : 'busy'}
                  >
                    {example.result}
                  </Mark>
                </Table.Td>
                <Table.Td>
                  {example.run_id ? <Link to={runPath(example.run_id)}>{example.name}</Link> : example.name}
                </Table.Td>
                <Table.Td>{example.why ?? ''}</Table.Td>
                <Table.Td ta="right">{money(example.cost_usd)}</Table.Td>
                <Table.Td ta="right">{took(example.duration_ms)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </section>
  )
}
