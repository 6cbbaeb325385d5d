/** Whom a trigger tells: agents wired to it, and addresses that are subscribed. */

import { Button, Group, Modal, Paper, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Subscription, Trigger } from '../../../schemas/types.ts'
import { partPath } from '../../lib/fields.ts'
import { DELIVERY_TONES, statusWord } from '../../lib/firings.ts'
import { firingPath } from '../../lib/paths.ts'
import { FORMATS, tells } from '../../lib/subscriptions.ts'
import { useChange } from '../../lib/use-change.ts'
import { Mark } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { wkeys, work } from '../../trigger-client.ts'
import { SubscribeWebhook } from './subscribe-webhook.tsx'

export function SubscriptionsTab({ trigger }: { trigger: Trigger }) {
  const [isAdding, setAdding] = useState(false)
  const { data, error, isPending, refetch } = useQuery({
    queryKey: wkeys.subscriptions,
    queryFn: work.subscriptions,
    refetchInterval: 5_000,
  })
  const told = data?.filter((subscription) => tells(subscription, trigger))
  const add = (
    <Acts>
      <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setAdding(true)}>
        Subscribe a webhook
      </Button>
    </Acts>
  )
  return (
    <Stack maw={1100}>
      <Agents of={trigger.wakes} />
      {isPending && <LoadingRows rows={3} />}
      {error && <Failed what="subscriptions" error={error} onRetry={() => void refetch()} />}
      {told?.length === 0 && (
        <Empty title="No subscriptions">
          <Text c="dimmed" maw={540}>
            Each firing is posted to subscribed addresses, such as of Teams, Slack or PagerDuty, and tried
            again for about 21 hours while a subscriber does not answer.
          </Text>
          {add}
        </Empty>
      )}
      {told && told.length > 0 && (
        <>
          <Group>{add}</Group>
          <Subscriptions subscriptions={told} />
        </>
      )}
      <SubscribeWebhook trigger={trigger.name} opened={isAdding} onClose={() => setAdding(false)} />
    </Stack>
  )
}

function Agents({ of: agents }: { of: readonly string[] }) {
  if (agents.length === 0) return null
  return (
    <Group gap={8}>
      <Text size="sm">Wired to wake</Text>
      {agents.map((name) => (
        <Link key={name} to={partPath('agent', name)}>
          {name}
        </Link>
      ))}
    </Group>
  )
}

function Subscriptions({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  return (
    <Paper withBorder radius="md">
      <WideTable minWidth={760}>
        <Table verticalSpacing="xs" aria-label="Subscriptions">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Address</Table.Th>
              <Table.Th>Of</Table.Th>
              <Table.Th>Last delivery</Table.Th>
              <Table.Th>Made</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {subscriptions.map((subscription) => (
              <Row key={subscription.subscription_id} subscription={subscription} />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Paper>
  )
}

function Row({ subscription }: { subscription: Subscription }) {
  const { subscription_id, name, url, format, project } = subscription
  const { created_at, created_by, key_id, last_delivery } = subscription
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Link to={`/deliveries?recipient=${encodeURIComponent(subscription_id)}`}>{name}</Link>
      </Table.Td>
      <Table.Td className="mono" style={{ overflowWrap: 'anywhere' }}>
        {url}
        {format !== 'svc' && (
          <Text size="xs" c="dimmed" ff="text">
            {FORMATS[format]}
          </Text>
        )}
        {subscription.disabled_at && <Mark tone="bad">switched off: it is gone</Mark>}
      </Table.Td>
      <Table.Td>{project ? <ProjectLinks ids={[project]} /> : 'this trigger'}</Table.Td>
      <Table.Td>
        {last_delivery ? (
          <Group gap={6} wrap="nowrap">
            <Mark
              tone={DELIVERY_TONES[last_delivery.status]}
              {...(last_delivery.reason ? { title: last_delivery.reason } : {})}
            >
              {statusWord(last_delivery)}
            </Mark>
            <Link to={firingPath(last_delivery.dispatch_id)}>
              <When at={last_delivery.at} />
            </Link>
          </Group>
        ) : (
          'none yet'
        )}
      </Table.Td>
      <Table.Td>
        <When at={created_at} />
        {key_id && ` by ${created_by}`}
      </Table.Td>
      <Table.Td ta="right">
        <Unsubscribe subscription={subscription} />
      </Table.Td>
    </Table.Tr>
  )
}

function Unsubscribe({ subscription: { subscription_id, name, trigger } }: { subscription: Subscription }) {
  const [isAsking, setAsking] = useState(false)
  const remove = useChange(() => work.unsubscribe(subscription_id), {
    failed: `Couldn’t unsubscribe ${name}`,
    said: () => `${name} is unsubscribed`,
    onDone: () => setAsking(false),
  })
  return (
    <>
      <Acts>
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          aria-label={`Unsubscribe ${name}`}
          onClick={() => setAsking(true)}
        >
          Unsubscribe
        </Button>
      </Acts>
      <Modal opened={isAsking} onClose={() => setAsking(false)} title={`Unsubscribe ${name}?`} centered>
        <Stack>
          <Text size="sm">
            {trigger === null
              ? 'This address is subscribed to every trigger of the project and will get none of their firings.'
              : 'Gets no further firings.'}{' '}
            Deliveries still waiting are withdrawn.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
              Unsubscribe
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
