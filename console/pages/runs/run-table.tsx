/** Runs as a table, newest first. */
import { Paper, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Run } from '../../../schemas/types.ts'
import { firingPath } from '../../lib/firings.ts'
import { agentPath, claimsWords, durationOf, money, runPath, wokenWords } from '../../lib/runs.ts'
import { count } from '../../lib/time.ts'
import { RunMarks } from '../../parts/run-marks.tsx'
import { useNow } from '../../parts/use-now.ts'
import { When } from '../../parts/when.tsx'

interface Props {
  runs: readonly Run[]
  /** A column that says the same in each row. */
  without?: 'agent' | undefined
}

export function RunTable({ runs, without }: Props) {
  const now = useNow(1_000)
  return (
    <Paper withBorder radius="md">
      <Table.ScrollContainer minWidth={without ? 860 : 980}>
        <Table verticalSpacing="xs" highlightOnHover aria-label="Runs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              {without !== 'agent' && <Table.Th>Agent</Table.Th>}
              <Table.Th>Entity</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Verdict and headline</Table.Th>
              <Table.Th>Woken by</Table.Th>
              <Table.Th ta="right">Rounds</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
              <Table.Th ta="right">Duration</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {runs.map((run) => (
              <Row key={run.id} run={run} now={now} hasAgent={without !== 'agent'} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function Row({ run, now, hasAgent }: { run: Run; now: number; hasAgent: boolean }) {
  const { id, agent, key, label, verdict, headline, error, made_at, rounds, max_rounds, cost_usd } = run
  const claims = claimsWords(run.verified)
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <Link to={runPath(id)} aria-label={`Run of ${agent} for ${key}, ${run.status}`}>
          <When at={made_at} />
        </Link>
      </Table.Td>
      {hasAgent && (
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <Link to={agentPath(agent)}>{agent}</Link>
        </Table.Td>
      )}
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {label}={key}
      </Table.Td>
      <Table.Td>
        <RunMarks run={run} />
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere', minWidth: 200 }}>
        <Text size="sm" lineClamp={2} title={headline ?? error ?? ''}>
          {verdict && <b>{verdict} </b>}
          {headline ?? error}
        </Text>
        {claims && (
          <Text size="xs" c="dimmed">
            {claims}
          </Text>
        )}
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        {run.rerun_of ? (
          <Link to={runPath(run.rerun_of)}>{wokenWords(run)}</Link>
        ) : run.dispatch_id ? (
          <Link to={firingPath(run.dispatch_id)}>{wokenWords(run)}</Link>
        ) : (
          wokenWords(run)
        )}
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {count(rounds)} of {count(max_rounds)}
      </Table.Td>
      <Table.Td ta="right" title={cost_usd === null ? 'Not priced' : ''}>
        {money(cost_usd)}
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        {durationOf(run, now)}
      </Table.Td>
    </Table.Tr>
  )
}
