/** What was found of one incident so far: since when, how often, with which verdicts, and each earlier note. */
import { Group, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { FindingIncident } from '../../schemas/types.ts'
import { runPath } from '../lib/paths.ts'
import { grownWords } from '../lib/runs.ts'
import { count } from '../lib/time.ts'
import { Fold } from './fold.tsx'
import { VerdictChip } from './verdict-chip.tsx'
import { When } from './when.tsx'

/** @param run the finding that is shown: the others are listed. Nothing where it is the only run of it. */
export function Grown({ incident, run }: { incident: FindingIncident | null; run: string }) {
  const words = incident && grownWords(incident)
  if (!incident || !words) return null
  const others = incident.notes.filter(({ run_id }) => run_id !== run)
  return (
    <Text size="sm" component="div">
      <Group gap={6}>
        <span>
          The same incident: first seen <When at={incident.first_seen} />, updated{' '}
          <When at={incident.updated} />, {words}.
          {incident.looked_at > incident.updated && (
            <>
              {' '}
              Looked at again <When at={incident.looked_at} />: nothing new.
            </>
          )}
        </span>
        {incident.verdicts.length > 1 && (
          <>
            <span>Verdicts differ:</span>
            {incident.verdicts.map((verdict) => (
              <VerdictChip key={verdict} of={verdict} isFinding />
            ))}
          </>
        )}
      </Group>
      {others.length > 0 && (
        <Fold title="Other notes of it" hint={`${count(others.length)}`}>
          {others.map(({ run_id, at, agent, verdict, headline }) => (
            <div key={run_id}>
              <Link to={runPath(run_id)}>{headline || 'A note'}</Link>{' '}
              <Text span size="xs" c="dimmed">
                {agent}, <When at={at} />
                {verdict && `, ${verdict}`}
              </Text>
            </div>
          ))}
        </Fold>
      )}
    </Text>
  )
}
