/** Who was told of firings and findings, and how that went; the address holds the filters. */
import { SegmentedControl, Stack, Text } from '@mantine/core'
import { Link, useSearchParams } from 'react-router'
import type { Delivery } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { statusWord } from '../../lib/firings.ts'
import { runPath } from '../../lib/paths.ts'
import {
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  type DeliveryQuery,
  isSince,
  readDeliveryFilter,
  readSince,
  timesFor,
  withWord,
} from '../../lib/work-filters.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { Older } from '../../parts/older.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { readWords, TRIGGERS } from '../../parts/words-read.ts'
import { wkeys, work } from '../../trigger-client.ts'
import { DeliveryTable } from './delivery-table.tsx'

/** Subscribed addresses, and agents that may be woken. */
const RECIPIENTS = readWords(
  'subscribers',
  {
    queryKey: [...wkeys.subscriptions, 'recipients'],
    queryFn: () => Promise.all([work.subscriptions(), declared.agents()]),
  },
  ([subscriptions, { agents }]) => [
    ...subscriptions.map(({ subscription_id, name, trigger, url }) => ({
      value: subscription_id,
      label: `${name} · ${trigger ?? 'a project'} · ${url}`,
    })),
    ...agents.map(({ name }) => ({ value: name, label: `agent ${name}` })),
  ],
)

export default function DeliveriesPage() {
  const [address, setAddress] = useSearchParams()
  const query = readDeliveryFilter(address)
  const since = readSince(address)
  const isNarrowed = since !== '' || Object.keys(query).length > 0
  const set = (name: string, value: string | null) =>
    setAddress((now) => withWord(now, name, value), { replace: true })
  return (
    <>
      <PageHead title="Deliveries" />
      <Stack gap="sm">
        <FilterBar
          before={
            <SegmentedControl
              size="xs"
              aria-label="Status"
              data={[
                { value: '', label: 'All' },
                ...DELIVERY_STATUSES.map((status) => ({
                  value: status,
                  label: capitalized(statusWord({ status })),
                })),
              ]}
              value={query.status ?? ''}
              onChange={(value) => set('status', value)}
            />
          }
          filters={[
            { name: 'kind', label: 'Kind', all: 'All kinds', data: DELIVERY_KINDS },
            { name: 'trigger', label: 'Trigger', all: 'All triggers', data: TRIGGERS },
            { name: 'recipient', label: 'Subscriber', all: 'All subscribers', data: RECIPIENTS, width: 260 },
            { name: 'since', label: 'Time', data: timesFor(since, Date.now()), always: '' },
          ]}
          values={{ ...query, since }}
          isNarrowed={isNarrowed}
        />
        {query.run && (
          <Text size="sm" c="dimmed">
            Deliveries of the finding of one run. <Link to={runPath(query.run)}>View run</Link>
          </Text>
        )}
        <Deliveries query={query} since={since} isNarrowed={isNarrowed} />
      </Stack>
    </>
  )
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

function Deliveries({
  query,
  since,
  isNarrowed,
}: {
  query: DeliveryQuery
  since: string
  isNarrowed: boolean
}) {
  const isMeant = ({ made_at }: Delivery) => isSince(made_at, since, Date.now())
  const list = usePages(
    [...wkeys.deliveries(query), since],
    (before) => work.deliveries(query, before),
    (page) => page.deliveries.every(isMeant),
  )
  if (list.error) return <Failed what="deliveries" error={list.error} onRetry={list.reload} />
  if (!list.pages) return <LoadingRows />
  const deliveries = list.pages.flatMap((page) => page.deliveries).filter(isMeant)
  if (deliveries.length === 0)
    return (
      <Empty title={isNarrowed ? 'No deliveries match' : 'No deliveries yet'}>
        <Text c="dimmed" maw={540}>
          {isNarrowed
            ? 'Remove a filter to see more.'
            : 'When a trigger fires, each delivery to an agent or an address shows here; after a run, each delivery of its finding to a webhook or Slack. Addresses are subscribed on the page of a trigger.'}
        </Text>
      </Empty>
    )
  return (
    <Stack gap="sm">
      <DeliveryTable deliveries={deliveries} />
      <Older list={list} label="Show older deliveries" />
    </Stack>
  )
}
