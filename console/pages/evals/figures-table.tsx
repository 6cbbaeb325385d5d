/** Figures of each agent: its score with how sure it is, and what it cost. */

import { Badge, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import type { VariantFigures } from '../../../schemas/eval-figures.ts'
import { count, money } from '../../lib/time.ts'
import { WideTable } from '../../parts/wide-table.tsx'

export const percent = (share: number): string => `${Math.round(100 * share)} %`

/** Models before scripts, which are there to be compared with. */
export const inOrder = (figures: readonly VariantFigures[]): VariantFigures[] => [
  ...figures.filter(({ scripted }) => !scripted),
  ...figures.filter(({ scripted }) => scripted),
]

/** What is counted of an agent, by its name. */
export const FIGURES: readonly [name: string, value: (of: VariantFigures) => ReactNode][] = [
  ['Noise', ({ noise }) => count(noise)],
  ['Cause score', ({ cause }) => <b>{cause.mean.toFixed(2)}</b>],
  [
    '95 % interval',
    ({ cause }) => (
      <>
        <span style={{ whiteSpace: 'nowrap' }}>
          {cause.low.toFixed(2)} to {cause.high.toFixed(2)}
        </span>
        <IntervalBar {...cause} />
      </>
    ),
  ],
  ['Runs that pass', ({ pass }) => percent(pass)],
  ['Every time', ({ pass_all, scenarios }) => `${pass_all}/${scenarios}`],
  ['Flaky', ({ flaky }) => flaky],
  ['Stale', ({ stale }) => stale],
  ['Evidence', ({ evidence_recall }) => evidence_recall.toFixed(2)],
  ['Shown', ({ reached }) => reached.toFixed(2)],
  ['False claims', ({ false_claims }) => false_claims.toFixed(2)],
  ['Tokens', ({ input_tokens }) => count(input_tokens)],
  ['Cost a run', ({ usd }) => (usd === null ? 'not priced' : money(usd))],
]

export function FiguresTable({ figures }: { figures: readonly VariantFigures[] }) {
  return (
    <WideTable minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Agent</Table.Th>
            {FIGURES.map(([name]) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {inOrder(figures).map((of) => (
            <Table.Tr key={`${of.variant} ${of.noise}`}>
              <Table.Th scope="row">
                {of.variant} {of.scripted && <Scripted />}
              </Table.Th>
              {FIGURES.map(([name, value]) => (
                <Table.Td key={name}>{value(of)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
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
