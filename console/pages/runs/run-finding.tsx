/** What a run found: its headline and verdict, the note, what to do next, and claims checked against events. */
import { Alert, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import type { RunDetail } from '../../../schemas/types.ts'
import { eventPath } from '../../lib/explore-state.ts'
import { claimsWords, isOpen } from '../../lib/runs.ts'
import { FindingMarks } from '../../parts/finding-marks.tsx'
import { Grown } from '../../parts/grown.tsx'
import { MarkdownText } from '../../parts/markdown.tsx'
import { Section } from '../../parts/section.tsx'
import { VerdictChip } from '../../parts/verdict-chip.tsx'
import { ClaimList } from './claim-list.tsx'

/** Of a run that ended with nothing to report. */
const nothingWords = ({ incident }: RunDetail): string =>
  incident ? 'Nothing new since the last finding.' : 'Nothing to report.'

export function RunFinding({ run }: { run: RunDetail }) {
  const { finding, headline, verdict, next_step, claims, event_id, outcome, status, label, key } = run
  if (isOpen(run) && !finding) return null
  const entity = { label, value: key }
  const isPartial = finding !== null && status !== 'succeeded'
  return (
    <Section
      title={isPartial ? 'What it had written' : 'What it found'}
      aside={event_id && <Link to={eventPath(event_id, entity)}>On the timeline as {event_id}</Link>}
    >
      <Paper withBorder p="md" radius="md">
        <Stack gap="sm">
          {(headline || verdict) && (
            <Group gap="xs">
              {verdict && <VerdictChip of={verdict} isFinding={outcome === 'finding'} />}
              {headline && (
                <Title order={3} fz="lg" style={{ overflowWrap: 'anywhere' }}>
                  {headline}
                </Title>
              )}
            </Group>
          )}
          <Grown incident={run.incident} run={run.id} />
          {finding ? (
            <MarkdownText text={finding} />
          ) : (
            <Text c="dimmed" size="sm">
              {outcome === 'no_op' ? nothingWords(run) : 'No note.'}
            </Text>
          )}
          {next_step && (
            <Alert color="indigo" p="xs" title="Next step">
              {next_step}
            </Alert>
          )}
          {run.outcome && run.projects[0] && (
            <FindingMarks
              project={run.projects[0]}
              run={run.id}
              mark={run.mark}
              name={headline ?? `${run.agent}: ${key}`}
            />
          )}
        </Stack>
      </Paper>
      {claims.length > 0 && (
        <Stack gap="xs" mt="md">
          <Title order={3} fz="md">
            Claims: {claimsWords(run.verified) ?? `${claims.length}`}
          </Title>
          <Text size="xs" c="dimmed">
            Each claim is checked against its events, not judged by a model.
          </Text>
          <ClaimList claims={claims} entity={entity} />
        </Stack>
      )}
    </Section>
  )
}
