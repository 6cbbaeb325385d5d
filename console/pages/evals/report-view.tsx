/** One report: figures of each agent, the grid of scenarios and agents, a comparison, and one run over its timeline. */
import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { figuresByVariant } from '../../../schemas/eval-figures.ts'
import type { EvalReport } from '../../../schemas/types.ts'
import { type Chosen, gridOf } from '../../lib/evals.ts'
import { count, money } from '../../lib/time.ts'
import { useIsPhone } from '../../lib/use-is-phone.ts'
import { Section } from '../../parts/section.tsx'
import { CompareReports } from './compare-reports.tsx'
import { FiguresTable } from './figures-table.tsx'
import { LevelsTable } from './levels-table.tsx'
import { MeasuredTable } from './measured-table.tsx'
import { FigureLines, FoldedSection, ScenarioLines } from './phone-parts.tsx'
import { RunOverTimeline } from './run-over-timeline.tsx'
import { ScenarioGrid } from './scenario-grid.tsx'

/** @param id of a report that was published; absent: it was opened from a file */
export function ReportView({ report, id }: { report: EvalReport; id?: string }) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const { pack, release, at, stopped, spent_usd, runs, measured } = report
  const grid = gridOf(report)
  const figures = figuresByVariant(runs)
  const isPhone = useIsPhone()
  const Part = isPhone ? FoldedSection : Section
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {pack}, svc {release}, {at.slice(0, 16).replace('T', ' ')} UTC, {count(runs.length)} runs
        {spent_usd > 0 && `, ${money(spent_usd)}`}
        {stopped && '. Stopped early: the budget was spent'}
      </Text>
      {runs.length > 0 && (
        <>
          <Section title="Agents">
            {isPhone ? <FigureLines figures={figures} /> : <FiguresTable figures={figures} />}
            <Text size="xs" c="dimmed" mt={6}>
              Scripted agents are programs, not models. Every report has them: what a model adds is its score
              above the rules.
            </Text>
          </Section>
          <Part title="By level">
            <LevelsTable report={report} />
          </Part>
          <Part title="Compare with another report">
            <CompareReports report={report} {...(id ? { id } : {})} />
          </Part>
          <Section title="Scenarios">
            {isPhone ? (
              <ScenarioLines grid={grid} chosen={chosen} onChoose={setChosen} />
            ) : (
              <ScenarioGrid grid={grid} chosen={chosen} onChoose={setChosen} />
            )}
          </Section>
        </>
      )}
      {measured.length > 0 && (
        <Part title="First messages">
          <MeasuredTable measured={measured} />
        </Part>
      )}
      {chosen && (
        <RunOverTimeline
          key={`${chosen.row.scenario} ${chosen.column.id}`}
          {...chosen}
          scenes={report.scenes}
          onClose={() => setChosen(null)}
        />
      )}
    </Stack>
  )
}
