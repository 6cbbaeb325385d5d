/** Scenarios by kind, agents beside each other: each cell says by a sign and a word what came of it, and opens its run. */

import { Table, Text } from '@mantine/core'
import { Fragment } from 'react'
import { cellOf } from '../../../schemas/eval-figures.ts'
import {
  CELL_SIGNS,
  CELL_WORDS,
  type Chosen,
  cellWords,
  type EvalColumn,
  type EvalGrid,
  type EvalRow,
  passedOf,
} from '../../lib/evals.ts'
import { count } from '../../lib/time.ts'
import { WideTable } from '../../parts/wide-table.tsx'
import { Scripted } from './figures-table.tsx'

interface Props {
  grid: EvalGrid
  chosen: Chosen | null
  onChoose: (chosen: Chosen) => void
}

export function ScenarioGrid({ grid: { columns, kinds }, chosen, onChoose }: Props) {
  return (
    <>
      <Text size="xs" c="dimmed" mb="xs">
        {(Object.keys(CELL_SIGNS) as (keyof typeof CELL_SIGNS)[])
          .map((state) => `${CELL_SIGNS[state]} ${CELL_WORDS[state]}`)
          .join(' · ')}
        . FLAKY: some repeats pass. Stale: its tape no longer fits, so it neither passed nor failed.
      </Text>
      <WideTable minWidth={240 + columns.length * 128}>
        <Table className="eval-grid" withColumnBorders>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Scenario</Table.Th>
              {columns.map((column) => (
                <Table.Th key={column.id}>
                  {column.variant} {column.scripted && <Scripted />}
                  <Text size="xs" c="dimmed">
                    {count(column.noise)} events around
                  </Text>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {kinds.map(({ kind, rows }) => (
              <Fragment key={kind}>
                <Table.Tr className="eval-kind">
                  <Table.Th scope="rowgroup">{kind}</Table.Th>
                  {columns.map(({ id }) => {
                    const { passed, of } = passedOf(rows, id)
                    return <Table.Td key={id}>{of > 0 && `${passed} of ${of} pass`}</Table.Td>
                  })}
                </Table.Tr>
                {rows.map((row) => (
                  <Table.Tr key={row.scenario}>
                    <Table.Th scope="row" fw={400}>
                      {row.scenario}
                      {(row.heldOut || row.level !== null) && (
                        <Text size="xs" c="dimmed">
                          {[row.level !== null && `level ${row.level}`, row.heldOut && 'held out']
                            .filter(Boolean)
                            .join(', ')}
                        </Text>
                      )}
                    </Table.Th>
                    {columns.map((column) => (
                      <GridCell
                        key={column.id}
                        {...{ row, column }}
                        isChosen={chosen?.row.scenario === row.scenario && chosen.column.id === column.id}
                        onChoose={() => onChoose({ row, column })}
                      />
                    ))}
                  </Table.Tr>
                ))}
              </Fragment>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </>
  )
}

function GridCell({
  row,
  column,
  isChosen,
  onChoose,
}: {
  row: EvalRow
  column: EvalColumn
  isChosen: boolean
  onChoose: () => void
}) {
  const cell = cellOf(row.runs.get(column.id) ?? [])
  if (cell.state === 'none')
    return (
      <Table.Td>
        <Text size="sm" c="dimmed">
          {CELL_SIGNS.none} {CELL_WORDS.none}
        </Text>
      </Table.Td>
    )
  const score = cell.cause === null ? '' : ` ${cell.cause.toFixed(2)}`
  return (
    <Table.Td p={0}>
      <button
        type="button"
        className={`eval-cell eval-${cell.state}`}
        aria-pressed={isChosen}
        aria-label={`${row.scenario}, ${column.variant}: ${cellWords(cell)}${score && `, cause score${score}`}`}
        {...(cell.why ? { title: cell.why } : {})}
        onClick={onChoose}
      >
        <span aria-hidden>{CELL_SIGNS[cell.state]}</span> {cellWords(cell)}
        <span className="eval-score">{score}</span>
      </button>
    </Table.Td>
  )
}
