/** Figures of each agent: its score with how sure it is, and what it cost. */

import { Badge, Table, Text } from '@mantine/core'
import type { VariantFigures } from '../../../schemas/eval-figures.ts'
import { count, money } from '../../lib/time.ts'
import { WideTable } from '../../parts/wide-table.tsx'

const percent = (share: number): string => `${Math.round(100 * share)} %`

export function FiguresTable({ figures }: { figures: readonly VariantFigures[] }) {
  const models = figures.filter(({ scripted }) => !scripted)
  const scripts = figures.filter(({ scripted }) => scripted)
  return (
    <>
      <WideTable minWidth={860}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {['Agent', 'Noise', 'Cause score', '95 % interval', 'Runs that pass', 'Every time'].map(
                (title) => (
                  <Table.Th key={title}>{title}</Table.Th>
                ),
              )}
              {['Flaky', 'Stale', 'Evidence', 'Shown', 'False claims', 'Tokens', 'Cost a run'].map(
                (title) => (
                  <Table.Th key={title}>{title}</Table.Th>
                ),
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[...models, ...scripts].map((one) => (
              <Line key={`${one.variant} ${one.noise}`} of={one} />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Text size="xs" c="dimmed">
        Scripted agents are programs, not models. Every report has them: what a model adds is its score above
        the rules.
      </Text>
    </>
  )
}

function Line({ of }: { of: VariantFigures }) {
  const { mean, low, high } = of.cause
  return (
    <Table.Tr>
      <Table.Th scope="row">
        {of.variant} {of.scripted && <Scripted />}
      </Table.Th>
      <Table.Td>{count(of.noise)}</Table.Td>
      <Table.Td>
        <b>{mean.toFixed(2)}</b>
      </Table.Td>
      <Table.Td>
        <span style={{ whiteSpace: 'nowrap' }}>
          {low.toFixed(2)} to {high.toFixed(2)}
        </span>
        <IntervalBar {...of.cause} />
      </Table.Td>
      <Table.Td>{percent(of.pass)}</Table.Td>
      <Table.Td>
        {of.pass_all}/{of.scenarios}
      </Table.Td>
      <Table.Td>{of.flaky}</Table.Td>
      <Table.Td>{of.stale}</Table.Td>
      <Table.Td>{of.evidence_recall.toFixed(2)}</Table.Td>
      <Table.Td>{of.reached.toFixed(2)}</Table.Td>
      <Table.Td>{of.false_claims.toFixed(2)}</Table.Td>
      <Table.Td>{count(of.input_tokens)}</Table.Td>
      <Table.Td>{of.usd === null ? 'not priced' : money(of.usd)}</Table.Td>
    </Table.Tr>
  )
}

export function Scripted() {
  return (
    <Badge variant="default" tt="none" size="sm" fw={500}>
      scripted
    </Badge>
  )
}

/** The interval between 0 and 1; the figures beside it say the same. */
function IntervalBar({ mean, low, high }: VariantFigures['cause']) {
  const x = (value: number) => 1 + value * 98
  return (
    <svg width="100" height="8" aria-hidden style={{ display: 'block' }}>
      <line x1={1} x2={99} y1={4} y2={4} stroke="var(--mantine-color-default-border)" />
      <line
        x1={x(low)}
        x2={x(high)}
        y1={4}
        y2={4}
        stroke="var(--mantine-primary-color-filled)"
        strokeWidth={3}
      />
      <circle cx={x(mean)} cy={4} r={3.5} fill="var(--mantine-primary-color-filled)" />
    </svg>
  )
}
