/** Deliveries as a table: how each went, its attempts and what is posted on demand, sent again by hand. */
import { ActionIcon, Button, Text } from '@mantine/core'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Delivery } from '../../../schemas/types.ts'
import { DELIVERY_TONES, statusWord } from '../../lib/firings.ts'
import { agentPath, firingPath, runPath } from '../../lib/paths.ts'
import { useChange } from '../../lib/use-change.ts'
import { Mark } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { Below, Cell, type Column, Row, Rows } from '../../parts/rows.tsx'
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
    <Rows label="Deliveries" columns={COLUMNS.filter(({ name }) => hasFiring || !OF_FIRING.includes(name))}>
      {deliveries.map((delivery) => (
        <DeliveryRow
          key={delivery.delivery_id}
          delivery={delivery}
          hasFiring={hasFiring}
          isOpen={open === delivery.delivery_id}
          onToggle={() => setOpen(open === delivery.delivery_id ? null : delivery.delivery_id)}
        />
      ))}
    </Rows>
  )
}

const COLUMNS: readonly Column[] = [
  { name: 'Unfold', isUnnamed: true },
  { name: 'Subscriber', isHead: true, isText: true },
  { name: 'Firing or finding', isText: true },
  { name: 'When' },
  { name: 'Status' },
  { name: 'Attempts' },
  { name: 'Result', isText: true },
  { name: 'Actions', isUnnamed: true },
]
const OF_FIRING = ['Firing or finding', 'When']

function DeliveryRow({
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
      <Row>
        <Cell>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-expanded={isOpen}
            aria-label={`Attempts of the delivery to ${label}`}
            onClick={onToggle}
          >
            <Icon size={16} aria-hidden />
          </ActionIcon>
        </Cell>
        <Cell>
          <Recipient delivery={delivery} label={label} />
        </Cell>
        {hasFiring && (
          <Cell>
            {delivery.of === 'finding' && <Text size="xs">finding about {key}</Text>}
            {delivery.dispatch_id && (
              <Link to={firingPath(delivery.dispatch_id)}>
                {trigger}
                {key && key !== trigger ? `: ${key}` : ''}
              </Link>
            )}
          </Cell>
        )}
        {hasFiring && (
          <Cell isWhole>
            <When at={delivery.made_at} />
          </Cell>
        )}
        <Cell>
          <Mark tone={DELIVERY_TONES[status]}>{statusWord(delivery)}</Mark>
        </Cell>
        <Cell isWhole>
          {tries} of {max_tries}
        </Cell>
        <Cell>
          <Result delivery={delivery} />
        </Cell>
        <Cell>{delivery.accepts.includes('redeliver') && <Redeliver id={delivery_id} label={label} />}</Cell>
      </Row>
      {isOpen && (
        <Below>
          <DeliveryDetail delivery={delivery} />
        </Below>
      )}
    </>
  )
}

/** Who it is for, or whose finding it tells. */
function Recipient({ delivery, label }: { delivery: Delivery; label: string }) {
  const { of, recipient, run_id } = delivery
  return (
    <>
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
    </>
  )
}

function Result({ delivery: { of, status, delivered_at, due_at, reason, run_id } }: { delivery: Delivery }) {
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
  const again = useChange(() => work.redeliver(id), {
    failed: 'Couldn’t redeliver',
    said: () => 'Redelivered with the same id',
  })
  return (
    <Acts>
      <Button
        size="compact-sm"
        variant="default"
        loading={again.isPending}
        aria-label={`Redeliver to ${label}`}
        onClick={() => again.mutate(undefined)}
      >
        Redeliver
      </Button>
    </Acts>
  )
}
