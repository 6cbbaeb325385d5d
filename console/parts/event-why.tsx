/** Why an event fired each trigger that watches its source, or did not. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { wkeys, work } from '../trigger-client.ts'
import { Failed } from './states.tsx'
import { WhyRecords } from './why-records.tsx'

export function EventWhy({ event }: { event: string }) {
  const { data, error, refetch } = useQuery({ queryKey: wkeys.why(event), queryFn: () => work.why(event) })
  return (
    <section className="event-why" aria-label={`Why ${event}`}>
      <Text size="xs" c="dimmed" mb={4}>
        Why it fired, or did not
      </Text>
      {error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Text size="sm" c="dimmed" role="status">
          Loading…
        </Text>
      ) : data.records.length === 0 ? (
        <Text size="sm" c="dimmed">
          No trigger watches its source.
        </Text>
      ) : (
        <WhyRecords records={data.records} />
      )}
    </section>
  )
}
