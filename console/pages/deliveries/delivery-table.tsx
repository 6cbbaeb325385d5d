/** Deliveries as a table: how each went, its attempts and what is posted on demand, sent again by hand. */
import { ActionIcon, Button, Paper, Table, Text, VisuallyHidden } from '@mantine/core'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Delivery } from '../../../schemas/types.ts'
import { DELIVERY_TONES, firingPath, statusWord } from '../../lib/firings.ts'
import { agentPath, runPath } from '../../lib/runs.ts'
import { useChange } from '../../lib/use-change.ts'
import { Mark } from '../../parts/mark.tsx'
import { When } from '../../parts/when.tsx'
import { work } from '../../trigger-client.ts'
import { DeliveryDetail } from './delivery-detail.tsx'

interface Props {
  deliveries: readonly Delivery[]
  /** What the page already says. */
  without?: 'firing'
}

export function DeliveryTable({ deliveries, without }: Props) {
  const [open, setOpen] = useState<string | null>(null)
  const hasFiring = without !== 'firing'
  return (
    <Paper withBorder radius="md">
      <Table.ScrollContainer minWidth={hasFiring ? 900 : 680}>
        <Table verticalSpacing="xs" aria-label="Deliveries">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={40}>
                <VisuallyHidden>Unfold</VisuallyHidden>
              </Table.Th>
              <Table.Th>Recipient</Table.Th>
              {hasFiring && <Table.Th>Firing or finding</Table.Th>}
              {hasFiring && <Table.Th>When</Table.Th>}
              <Table.Th>Status</Table.Th>
              <Table.Th>Attempts</Table.Th>
              <Table.Th>Result</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {deliveries.map((delivery) => (
              <Row
                key={delivery.delivery_id}
                delivery={delivery}
                hasFiring={hasFiring}
                isOpen={open === delivery.delivery_id}
                onToggle={() => setOpen(open === delivery.delivery_id ? null : delivery.delivery_id)}
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

function Row({
  delivery,
  hasFiring,
  isOpen,
  onToggle,
}: {
  delivery: Delivery
  hasFiring: boolean
  isOpen: boolean
  onToggle: () => void
}) {
  const { delivery_id, recipient, trigger, key, status, tries, max_tries } = delivery
  const Icon = isOpen ? ChevronDown : ChevronRight
  const means =
    delivery.of === 'firing' ? '' : recipient.kind === 'slack' ? ', in Slack' : ', as a write-back'
  const label = `${recipient.name} for ${key || trigger}${means}`
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-expanded={isOpen}
            aria-label={`Attempts of the delivery to ${label}`}
            onClick={onToggle}
          >
            <Icon size={16} aria-hidden />
          </ActionIcon>
        </Table.Td>
        <Recipient delivery={delivery} label={label} />
        {hasFiring && (
          <Table.Td style={{ overflowWrap: 'anywhere' }}>
            {delivery.of === 'finding' && <Text size="xs">finding about {key}</Text>}
            {delivery.dispatch_id && (
              <Link to={firingPath(delivery.dispatch_id)}>
                {trigger}
                {key && key !== trigger ? `: ${key}` : ''}
              </Link>
            )}
          </Table.Td>
        )}
        {hasFiring && (
          <Table.Td style={{ whiteSpace: 'nowrap' }}>
            <When at={delivery.made_at} />
          </Table.Td>
        )}
        <Table.Td>
          <Mark tone={DELIVERY_TONES[status]}>{statusWord(delivery)}</Mark>
        </Table.Td>
        <Table.Td style={{ whiteSpace: 'nowrap' }}>
          {tries} of {max_tries}
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere', maxWidth: 320 }}>
          <LastWord delivery={delivery} />
        </Table.Td>
        <Table.Td ta="right">
          {delivery.accepts.includes('redeliver') && <Redeliver id={delivery_id} label={label} />}
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr className="unfolded">
          <Table.Td colSpan={hasFiring ? 8 : 6}>
            <DeliveryDetail delivery={delivery} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

/** Who it is for, or whose finding it tells. */
function Recipient({ delivery, label }: { delivery: Delivery; label: string }) {
  const { of, recipient, run_id } = delivery
  return (
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm" fw={600}>
        {recipient.kind === 'agent' || of === 'finding' ? (
          <Link to={agentPath(recipient.name)}>{recipient.name}</Link>
        ) : (
          recipient.name
        )}
      </Text>
      {of === 'finding' && (
        <Text size="xs" c="dimmed" className="mono">
          {recipient.kind === 'slack' ? 'Slack' : 'write-back'}: {recipient.address}
        </Text>
      )}
      {run_id ? (
        <Link to={runPath(run_id)} aria-label={`Run of ${label}`}>
          View run
        </Link>
      ) : (
        <Text size="xs" c="dimmed" className="mono">
          {recipient.address}
        </Text>
      )}
    </Table.Td>
  )
}

function LastWord({
  delivery: { of, status, delivered_at, due_at, reason, run_id },
}: {
  delivery: Delivery
}) {
  return (
    <Text size="sm">
      {status === 'delivered' && (
        <>
          {run_id && of === 'firing' ? 'Run succeeded' : 'delivered'} <When at={delivered_at} />
        </>
      )}
      {status === 'running' && due_at && (
        <>
          next try <When at={due_at} />
          {reason && ': '}
        </>
      )}
      {status !== 'delivered' && reason}
      {status === 'running' &&
        !due_at &&
        !reason &&
        (run_id && of === 'firing' ? 'Run in progress' : 'Queued')}
    </Text>
  )
}

function Redeliver({ id, label }: { id: string; label: string }) {
  const again = useChange(() => work.redeliver(id), { said: () => 'Redelivered with the same id' })
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={again.isPending}
      aria-label={`Redeliver to ${label}`}
      onClick={() => again.mutate(undefined)}
    >
      Redeliver
    </Button>
  )
}
