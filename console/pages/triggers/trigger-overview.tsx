/** A trigger at a glance: what it says, how often it came, whom it tells, its newest firings. */
import { Alert, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { durationWords } from '../../../schemas/duration-words.ts'
import type { Trigger } from '../../../schemas/types.ts'
import { cooldownSentence, filterWords, sentenceOf } from '../../../schemas/words.ts'
import { partPath } from '../../lib/fields.ts'
import { triggerPath } from '../../lib/paths.ts'
import { count } from '../../lib/time.ts'
import { storedDefinition } from '../../lib/trigger-form.ts'
import { Fact } from '../../parts/fact.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { Spark } from '../../parts/spark.tsx'
import { When } from '../../parts/when.tsx'
import { FiringList } from '../firings/firing-list.tsx'

export function TriggerOverview({ trigger }: { trigger: Trigger }) {
  return (
    <Stack maw={1100}>
      <Alert color="indigo" className="sentence">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          {trigger.sentence}.
        </Text>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {trigger.description && `${sentenceOf(storedDefinition(trigger))}. `}
          {cooldownSentence(trigger)}.
        </Text>
      </Alert>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Fact title="Last fired">
          <When at={trigger.last_fired} />
        </Fact>
        <Fact title="In 24 hours">{count(trigger.firings_24h)}</Fact>
        <Fact title="In 7 days">
          <Group gap="sm" wrap="nowrap">
            {count(trigger.spark.reduce((sum, n) => sum + n, 0))}
            <Spark days={trigger.spark} />
          </Group>
        </Fact>
        <Fact title="Notifies">
          <Link to={triggerPath(trigger.name, 'subscriptions')}>
            {trigger.subscribers === 0
              ? 'nobody yet'
              : `${count(trigger.subscribers)} ${trigger.subscribers === 1 ? 'subscriber' : 'subscribers'}`}
          </Link>
        </Fact>
      </SimpleGrid>
      <dl className="facts">
        <Row term="Watches">
          <Group gap={8}>
            {trigger.sources.map((source) => (
              <Link key={source} to={partPath('source', source)}>
                {source}
              </Link>
            ))}
          </Group>
        </Row>
        {trigger.filters.length > 0 && (
          <Row term="Only where">{trigger.filters.map(filterWords).join(' and ')}</Row>
        )}
        <Row term="Severity">{severityWords(trigger)}</Row>
        <Row term="Entity">{trigger.key_field || 'the primary label of its sources'}</Row>
        <Row term="Carries">
          the timeline of the {durationWords(trigger.emit.context_window ?? '15m')} before
        </Row>
        <Row term="Ignore events older than">{durationWords(trigger.max_late)}</Row>
        <Row term="Projects">
          <ProjectLinks ids={trigger.projects} none="none" />
        </Row>
        <Row term="Changed">
          <When at={trigger.updated_at} />
        </Row>
      </dl>
      <Group justify="space-between">
        <Title order={2}>Newest firings</Title>
        <Text size="sm" component={Link} to={triggerPath(trigger.name, 'firings')} className="link">
          All of them
        </Text>
      </Group>
      <FiringList query={{ trigger: trigger.name }} without="trigger" newest={5} />
    </Stack>
  )
}

/** Of the incidents that it opens. */
function severityWords({ severity, severity_field }: Trigger): string {
  const own = severity === 'none' ? 'none: it opens no incident' : severity
  return severity_field ? `as the field ${severity_field} says, else ${own}` : own
}

function Row({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}
