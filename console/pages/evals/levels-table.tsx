/** Scores for the cause by how hard the scenarios were, and what the rules reach at each level. */

import { List, Table, Text } from '@mantine/core'
import { figuresByLevel, levelName, rulesByLevel, rulesLine } from '../../../schemas/eval-levels.ts'
import { grouped } from '../../../schemas/grouped.ts'
import type { EvalReport } from '../../../schemas/types.ts'
import { count } from '../../lib/time.ts'
import { WideTable } from '../../parts/wide-table.tsx'
import { Scripted } from './figures-table.tsx'

export function LevelsTable({ report }: { report: EvalReport }) {
  const figures = figuresByLevel(report.runs)
  const levels = [...new Set(figures.map(({ level }) => level))].sort((a, b) => (a ?? 0) - (b ?? 0))
  const agents = [...grouped(figures, ({ noise, variant }) => `${noise} ${variant}`)]
  // Models before scripts, as in the other tables.
  const lines = [false, true].flatMap((isScript) => agents.filter(([, [one]]) => one!.scripted === isScript))
  const rules = rulesByLevel(report)
  return (
    <>
      <WideTable minWidth={300 + levels.length * 120}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Agent</Table.Th>
              <Table.Th>Noise</Table.Th>
              {levels.map((level) => (
                <Table.Th key={level}>{levelName(level)}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map(([id, of]) => (
              <Table.Tr key={id}>
                <Table.Th scope="row">
                  {of[0]!.variant} {of[0]!.scripted && <Scripted />}
                </Table.Th>
                <Table.Td>{count(of[0]!.noise)}</Table.Td>
                {levels.map((level) => {
                  const one = of.find((figure) => figure.level === level)
                  return (
                    <Table.Td key={level}>
                      {one ? `${one.cause.toFixed(2)} of ${one.scenarios}` : '–'}
                    </Table.Td>
                  )
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Text size="xs" c="dimmed" mb={rules.length ? 'xs' : 0}>
        Mean score for the cause, and of how many scenarios. Level 1 is one clear signal; 2 and 3 add: nothing
        of the entity itself shows the cause, only numbers or lines that stopped show it, something misleads
        or came late; 4 has several causes, or one that is not in the events.
      </Text>
      {rules.length > 0 && (
        <List size="sm">
          {rules.map((one) => (
            <List.Item key={`${one.noise} ${one.level}`}>{rulesLine(one)}</List.Item>
          ))}
        </List>
      )}
    </>
  )
}
