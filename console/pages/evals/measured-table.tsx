/** What first messages showed, of svc evals measure: brief and plain side by side. */

import { Table } from '@mantine/core'
import { measuredFigures, positionText, suspectsText } from '../../../schemas/eval-measured.ts'
import { grouped } from '../../../schemas/grouped.ts'
import type { EvalMeasured } from '../../../schemas/types.ts'
import { count } from '../../lib/time.ts'
import { WideTable } from '../../parts/wide-table.tsx'

export function MeasuredTable({ measured }: { measured: readonly EvalMeasured[] }) {
  const groups = [...grouped(measured, ({ noise, budget, way }) => `${noise} ${budget} ${way}`)]
  return (
    <WideTable minWidth={860}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {[
              'Shown as',
              'Noise',
              'Budget',
              'Scenarios',
              'Facts shown',
              'A root cause shown',
              'Root cause at',
              'Root service in first 1, 3, 5',
              'Tokens',
              'Tokens per fact',
              'Over budget',
            ].map((title) => (
              <Table.Th key={title}>{title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map(([id, some]) => {
            const { noise, budget, way } = some[0]!
            const of = measuredFigures(some)
            return (
              <Table.Tr key={id}>
                <Table.Th scope="row">{way}</Table.Th>
                <Table.Td>{count(noise)}</Table.Td>
                <Table.Td>{count(budget)}</Table.Td>
                <Table.Td>{of.incidents}</Table.Td>
                <Table.Td>{of.recall.toFixed(2)}</Table.Td>
                <Table.Td>
                  {of.roots}/{of.withRoot}
                </Table.Td>
                <Table.Td>{positionText(of)}</Table.Td>
                <Table.Td>{suspectsText(of)}</Table.Td>
                <Table.Td>{count(of.tokens)}</Table.Td>
                <Table.Td>{of.tokensPerFact === null ? '–' : count(of.tokensPerFact)}</Table.Td>
                <Table.Td>{of.overBudget}</Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </WideTable>
  )
}
