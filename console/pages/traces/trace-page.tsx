/** One trace: how long it took, in which services, what failed, and its spans as a waterfall. */
import { Alert, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import type { Trace } from '../../../schemas/types.ts'
import { ApiError } from '../../client.ts'
import { count } from '../../lib/time.ts'
import { tookExactly, tracePath } from '../../lib/traces.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { tkeys, traces } from '../../trace-client.ts'
import { Waterfall } from './waterfall.tsx'

/** Characters of an id in the heading. */
const SHORT = 16

export default function TracePage() {
  const { id = '' } = useParams()
  const { data, error, refetch } = useQuery({ queryKey: tkeys.one(id), queryFn: () => traces.one(id) })
  const root = data?.rows[0]
  return (
    <>
      <PageHead
        title={root ? root.name : 'Trace'}
        subtitle={`Trace ${(data?.id ?? id).slice(0, SHORT)}`}
        tab={`Trace ${id.slice(0, 8)}`}
      >
        <CopyIcon value={data?.id ?? id} label="Copy the trace id" />
      </PageHead>
      {!data && !error && <LoadingRows />}
      {error instanceof ApiError && error.status === 404 ? (
        <Empty title="No event has this trace id">
          <Text c="dimmed" maw={540}>
            Its spans may have been purged, or never arrived.{' '}
            <Link to="/traces">See the traces there are</Link>.
          </Text>
        </Empty>
      ) : (
        error && <Failed what="the trace" error={error} onRetry={() => void refetch()} />
      )}
      {data && <Shown trace={data} />}
    </>
  )
}

function Shown({ trace }: { trace: Trace }) {
  const { began_at, duration_ms, spans, events, failed, services, others, is_cut } = trace
  const facts = [
    tookExactly(duration_ms),
    `${count(spans)} ${spans === 1 ? 'span' : 'spans'} of ${count(services.length)} ${services.length === 1 ? 'service' : 'services'}`,
    ...(events > 0 ? [`${count(events)} ${events === 1 ? 'event' : 'events'} that belong to them`] : []),
    failed === 0 ? 'none failed' : `${count(failed)} failed`,
  ]
  return (
    <Stack gap="sm">
      <Text size="sm">
        <When at={began_at} /> · {facts.join(' · ')}
      </Text>
      {is_cut && (
        <Alert color="yellow" title="Not all of it is shown">
          The trace has more than {count(trace.rows.length)} spans and events.
        </Alert>
      )}
      {others.length > 0 && (
        <Alert color="yellow" title="Other traces begin with the same characters">
          {others.map((other) => (
            <Link key={other} to={tracePath(other)} className="mono" style={{ marginRight: 12 }}>
              {other}
            </Link>
          ))}
        </Alert>
      )}
      <Waterfall key={trace.id} trace={trace} />
    </Stack>
  )
}
