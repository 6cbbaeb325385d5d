/** The status of a run, and what sets it apart. */
import { Group } from '@mantine/core'
import type { Run } from '../../schemas/types.ts'
import { RUN_TONES } from '../lib/run-tones.ts'
import { STATUS_HINTS } from '../lib/runs.ts'
import { Mark } from './mark.tsx'

export function RunMarks({ run }: { run: Pick<Run, 'status' | 'outcome'> & { practice?: boolean } }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Mark tone={RUN_TONES[run.status]} title={STATUS_HINTS[run.status]}>
        {run.status}
      </Mark>
      {run.outcome === 'no_op' && (
        <Mark tone="quiet" title="Nothing to report">
          no finding
        </Mark>
      )}
      {run.practice && (
        <Mark tone="quiet" title="Not sent, not counted">
          practice
        </Mark>
      )}
    </Group>
  )
}
