/** Why an event fired each trigger that watches its source, or did not. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { wkeys, work } from '../trigger-client.ts'
import { Failed } from './states.tsx'
import { WhyRecords } from './why-records.tsx'

export function EventWhy({
  event,
  trigger = null,
}: {
  event: string
  /** Only what this one made of it; null: each. */
  trigger?: string | null
}) {
  const { data, error, refetch } = useQuery({ queryKey: wkeys.why(event), queryFn: () => work.why(event) })
  const records = data?.records.filter((record) => trigger === null || record.trigger === trigger) ?? []
  return (
    <section className="event-why" aria-label={`Why ${event}`}>
      <Text size="xs" c="dimmed" mb={4}>
        Why it fired, or did not
      </Text>
      {error ? (
        <Failed what="the triggers" error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Text size="sm" c="dimmed" role="status">
          Loading…
        </Text>
      ) : records.length === 0 ? (
        <Text size="sm" c="dimmed">
          {trigger === null ? 'No trigger watches its source.' : `${trigger} does not watch its source.`}
        </Text>
      ) : (
        <WhyRecords records={records} />
      )}
    </section>
  )
}
