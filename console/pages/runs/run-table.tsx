/** Runs as a table, newest first. */
import { Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Run } from '../../../schemas/types.ts'
import { middle } from '../../lib/middle.ts'
import { agentPath, firingPath, runPath } from '../../lib/paths.ts'
import { claimsWords, durationOf, wokenWords } from '../../lib/runs.ts'
import { count, money } from '../../lib/time.ts'
import { Cell, type Column, NameLink, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { useNow } from '../../parts/use-now.ts'
import { VerdictChip } from '../../parts/verdict-chip.tsx'
import { When } from '../../parts/when.tsx'

interface Props {
  runs: readonly Run[]
  /** A column that says the same in each row. */
  without?: 'agent' | undefined
}

export function RunTable({ runs, without }: Props) {
  const now = useNow(1_000)
  return (
    <Rows label="Runs" columns={COLUMNS.filter(({ name }) => !(without === 'agent' && name === 'Agent'))}>
      {runs.map((run) => (
        <RunRow key={run.id} run={run} now={now} hasAgent={without !== 'agent'} />
      ))}
    </Rows>
  )
}

/** Characters of an entity at most: nine columns share the width. */
const ENTITY_MOST = 24

const COLUMNS: readonly Column[] = [
  { name: 'When', isHead: true },
  { name: 'Agent' },
  { name: 'Entity' },
  { name: 'Status' },
  { name: 'Verdict and headline', isText: true },
  { name: 'Woken by', isMinor: true },
  { name: 'Rounds', isNumber: true, isMinor: true },
  { name: 'Cost', isNumber: true },
  { name: 'Duration', isNumber: true },
]

function RunRow({ run, now, hasAgent }: { run: Run; now: number; hasAgent: boolean }) {
  const { id, agent, key, label, verdict, headline, error, made_at, rounds, max_rounds, cost_usd } = run
  const claims = claimsWords(run.verified)
  return (
    <Row>
      <Cell isWhole>
        <RowLink to={runPath(id)} label={`Run of ${agent} for ${key}, ${run.status}`}>
          <When at={made_at} />
        </RowLink>
      </Cell>
      {hasAgent && (
        <Cell>
          <NameLink to={agentPath(agent)}>{agent}</NameLink>
        </Cell>
      )}
      <Cell>
        <span className="whole-name" title={`${label}=${key}`}>
          {middle(`${label}=${key}`, ENTITY_MOST)}
        </span>
      </Cell>
      <Cell>
        <RunMarks run={run} />
      </Cell>
      <Cell>
        <Text size="sm" lineClamp={2} title={headline ?? error ?? ''}>
          {verdict && <VerdictChip of={verdict} isFinding={run.outcome === 'finding'} />} {headline ?? error}
        </Text>
        {claims && (
          <Text size="xs" c="dimmed">
            {claims}
          </Text>
        )}
      </Cell>
      <Cell>
        {run.rerun_of ? (
          <Link to={runPath(run.rerun_of)}>{wokenWords(run)}</Link>
        ) : run.dispatch_id ? (
          <Link to={firingPath(run.dispatch_id)}>{wokenWords(run)}</Link>
        ) : (
          wokenWords(run)
        )}
      </Cell>
      <Cell isWhole>
        {count(rounds)} of {count(max_rounds)}
      </Cell>
      <Cell isWhole>{money(cost_usd)}</Cell>
      <Cell isWhole>{durationOf(run, now)}</Cell>
    </Row>
  )
}
