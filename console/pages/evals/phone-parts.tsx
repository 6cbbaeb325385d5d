/** A report on a phone: an agent a line, scenarios of one agent at a time, and what else there is folded. */
import { Select, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { cellOf, type VariantFigures } from '../../../schemas/eval-figures.ts'
import { CELL_SIGNS, CELL_WORDS, type Chosen, cellWords, type EvalGrid, passedOf } from '../../lib/evals.ts'
import { count } from '../../lib/time.ts'
import { Fold } from '../../parts/fold.tsx'
import { FIGURES, inOrder, percent } from './figures-table.tsx'

/** A section that is opened on demand. */
export function FoldedSection({
  title,
  hint,
  children,
}: {
  title: string
  hint?: string
  children: ReactNode
}) {
  return (
    <section aria-label={title}>
      <Fold title={title} {...(hint === undefined ? {} : { hint })}>
        {children}
      </Fold>
    </section>
  )
}

/** The score of each agent, the best first; what else was counted of it is behind its line. */
export function FigureLines({ figures }: { figures: readonly VariantFigures[] }) {
  const best = figures.toSorted((a, b) => b.cause.mean - a.cause.mean)
  return (
    <Stack gap="xs">
      {inOrder(best).map((of) => (
        <Fold
          key={`${of.variant} ${of.noise}`}
          title={of.variant}
          hint={`${of.cause.mean.toFixed(2)}, ${percent(of.pass)} pass, ${count(of.noise)} events around${of.scripted ? ', scripted' : ''}`}
        >
          <dl className="eval-figures">
            {FIGURES.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value(of)}</dd>
              </div>
            ))}
          </dl>
        </Fold>
      ))}
    </Stack>
  )
}

/** Scenarios of one agent by their kind: how many pass, and behind that each with what it came to. */
export function ScenarioLines({
  grid: { columns, kinds },
  chosen,
  onChoose,
}: {
  grid: EvalGrid
  chosen: Chosen | null
  onChoose: (chosen: Chosen) => void
}) {
  const [id, setId] = useState(columns[0]!.id)
  const column = columns.find((one) => one.id === id) ?? columns[0]!
  return (
    <Stack gap="xs">
      <Select
        label="Agent"
        data={columns.map(({ id: value, variant, noise }) => ({
          value,
          label: `${variant}, ${count(noise)} events around`,
        }))}
        value={column.id}
        onChange={(value) => value !== null && setId(value)}
        allowDeselect={false}
      />
      {kinds.map(({ kind, rows }) => {
        const { passed, of } = passedOf(rows, column.id)
        return (
          <Fold key={kind} title={kind} hint={of > 0 ? `${passed} of ${of} pass` : CELL_WORDS.none}>
            <ul className="eval-lines">
              {rows.map((row) => {
                const cell = cellOf(row.runs.get(column.id) ?? [])
                return (
                  <li key={row.scenario}>
                    <button
                      type="button"
                      className={`eval-cell eval-${cell.state}`}
                      aria-pressed={chosen?.row.scenario === row.scenario}
                      disabled={cell.state === 'none'}
                      onClick={() => onChoose({ row, column })}
                    >
                      {row.scenario}
                      <Text span size="sm" c="dimmed" display="block">
                        <span aria-hidden>{CELL_SIGNS[cell.state]}</span> {cellWords(cell)}
                        {cell.cause !== null && `, ${cell.cause.toFixed(2)}`}
                        {row.level !== null && `, level ${row.level}`}
                        {row.heldOut && ', held out'}
                      </Text>
                    </button>
                  </li>
                )
              })}
            </ul>
          </Fold>
        )
      })}
    </Stack>
  )
}
