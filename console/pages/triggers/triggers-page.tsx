/** Triggers: what each waits for, and how often it came. */
import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Trigger } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { triggerPath } from '../../lib/paths.ts'
import { count } from '../../lib/time.ts'
import { AddLink, LongList } from '../../parts/long-list.tsx'
import { Mark } from '../../parts/mark.tsx'
import { PageHead } from '../../parts/page.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Spark } from '../../parts/spark.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

export default function TriggersPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.triggers,
    queryFn: declared.triggers,
    refetchInterval: 15_000,
  })
  return (
    <>
      <PageHead title="Triggers">
        <AddLink to="/triggers/new">Add trigger</AddLink>
      </PageHead>
      {isPending && <LoadingRows />}
      {error && <Failed what="triggers" error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <NoTriggers />}
      {data && data.length > 0 && (
        <LongList
          all={data}
          many="triggers"
          by="name, words or source"
          words={({ name, sentence, sources }) => `${name} ${sentence} ${sources.join(' ')}`}
        >
          {(shown) => (
            <Rows
              label="Triggers"
              columns={[
                { name: 'Trigger', isHead: true },
                'State',
                'Projects',
                'Last fired',
                { name: '24 hours', isNumber: true },
                '7 days',
                { name: 'Subscribers', isNumber: true },
              ]}
            >
              {shown.map((trigger) => (
                <TriggerRow key={trigger.name} trigger={trigger} />
              ))}
            </Rows>
          )}
        </LongList>
      )}
    </>
  )
}

function TriggerRow({ trigger }: { trigger: Trigger }) {
  return (
    <Row>
      <Cell>
        <Group gap="xs">
          <RowLink to={triggerPath(trigger.name)}>{trigger.name}</RowLink>
          {trigger.customized && (
            <Badge size="sm" variant="default" tt="none">
              edited by hand
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" lineClamp={2} title={trigger.sentence}>
          {trigger.sentence}
        </Text>
      </Cell>
      <Cell>
        <Mark tone={trigger.paused ? 'quiet' : 'good'}>{trigger.paused ? 'paused' : 'active'}</Mark>
      </Cell>
      <Cell>
        <ProjectLinks ids={trigger.projects} />
      </Cell>
      <Cell isWhole>
        <When at={trigger.last_fired} />
      </Cell>
      <Cell>{count(trigger.firings_24h)}</Cell>
      <Cell>
        <Spark days={trigger.spark} />
      </Cell>
      <Cell>{count(trigger.subscribers)}</Cell>
    </Row>
  )
}

function NoTriggers() {
  return (
    <Empty title="No triggers yet">
      <Text c="dimmed" maw={540}>
        A trigger watches sources and fires when its condition holds: more than five errors in five minutes,
        say. It wakes agents and tells addresses; what is stored already shows when it would have fired.
      </Text>
    </Empty>
  )
}
