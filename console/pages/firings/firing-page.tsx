/** One firing: why it fired, what tripped it, and who was told. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import type { FiringDetail } from '../../../schemas/types.ts'
import { explorePath, isUnderWay } from '../../lib/firings.ts'
import { pathOfIncident } from '../../lib/incidents.ts'
import { triggerPath } from '../../lib/paths.ts'
import { instantReplayPath } from '../../lib/replay-path.ts'
import { AskAbout } from '../../parts/ask-about.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import { FiringMarks } from '../../parts/firing-marks.tsx'
import { GoOn } from '../../parts/go-on.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { wkeys, work } from '../../trigger-client.ts'
import { DeliveryTable } from '../deliveries/delivery-table.tsx'
import { FiringEvidence } from './firing-evidence.tsx'
import { FiringFacts } from './firing-facts.tsx'
import { FiringKeys } from './firing-keys.tsx'

export default function FiringPage() {
  const { id = '' } = useParams()
  const { data, error, refetch } = useQuery({
    queryKey: wkeys.firing(id),
    queryFn: () => work.firing(id),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? 2_000 : 15_000),
  })
  if (error || !data)
    return (
      <>
        <PageHead title="Firing" />
        {error ? <Failed what="the firing" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
      </>
    )
  // What is to be worked is its incident; a firing that opened none stays a page of its own.
  if (data.incident) return <GoOn to={pathOfIncident(data.incident, data.dispatch_id)} />
  return <Firing firing={data} />
}

function Firing({ firing }: { firing: FiringDetail }) {
  const { trigger, key, entity, sentence, reason, fired_at, opened_at, deliveries, payload } = firing
  const project = firing.project ?? firing.projects[0]
  return (
    <>
      <PageHead title={key && key !== trigger ? `${trigger}: ${key}` : trigger}>
        <FiringMarks firing={firing} />
        <AskAbout
          question={`Why did the trigger ${trigger} fire${entity ? ` for ${entity.label}=${entity.value}` : ''} (firing:${firing.dispatch_id}), and what came of it?`}
        />
        {project && (
          <Button
            component={Link}
            to={instantReplayPath(project, fired_at ?? opened_at, `trigger:${trigger}`, firing.dispatch_id)}
            variant="default"
          >
            Replay
          </Button>
        )}
        {entity && (
          <Button component={Link} to={explorePath(entity, fired_at ?? opened_at)} variant="default">
            Open in Explore
          </Button>
        )}
      </PageHead>
      <Stack gap="lg" maw={1180}>
        <Alert color="indigo">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {sentence}.
          </Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {reason}
          </Text>
        </Alert>
        <FiringFacts firing={firing} />
        {firing.key_count > 1 && <FiringKeys firing={firing} />}
        <FiringEvidence firing={firing} />
        <Section title="Notified">
          {deliveries.length > 0 ? (
            <DeliveryTable deliveries={deliveries} without="firing" />
          ) : (
            <Text size="sm" c="dimmed">
              {fired_at ? (
                <>
                  No subscribers. <Link to={`${triggerPath(trigger)}?tab=subscriptions`}>Add one</Link>
                </>
              ) : (
                'Not sent yet'
              )}
            </Text>
          )}
        </Section>
        {payload !== null && (
          <Section title="Timeline">
            <CopyBlock value={payload} label="Copy the timeline" />
          </Section>
        )}
      </Stack>
    </>
  )
}
