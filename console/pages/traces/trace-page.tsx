/** One trace: how long it took, in which services, what failed, and its spans as a waterfall. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import type { Trace } from '../../../schemas/types.ts'
import { ApiError } from '../../client.ts'
import { runPath } from '../../lib/paths.ts'
import { count } from '../../lib/time.ts'
import { tookExactly, tracePath, usedWords } from '../../lib/traces.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { tkeys, traces } from '../../trace-client.ts'
import { Waterfall } from './waterfall.tsx'

/** How often a run that is at work is looked at again. */
const OPEN_MS = 2_000
/** Characters of an id in the heading. */
const SHORT = 16

export default function TracePage() {
  const { id = '' } = useParams()
  const { data, error, refetch } = useQuery({
    queryKey: tkeys.one(id),
    queryFn: () => traces.one(id),
    // A run at work goes on.
    refetchInterval: ({ state }) => (state.data?.run?.is_open ? OPEN_MS : false),
  })
  const root = data?.rows[0]
  return (
    <>
      <PageHead
        title={root ? root.name : 'Trace'}
        subtitle={`Trace ${(data?.id ?? id).slice(0, SHORT)}`}
        tab={`Trace ${id.slice(0, 8)}`}
      >
        <CopyIcon value={data?.id ?? id} label="Copy the trace id" />
        {data?.run && (
          <Button component={Link} to={runPath(data.run.id)} variant="default" size="xs">
            Open the run
          </Button>
        )}
      </PageHead>
      {!data && !error && <LoadingRows />}
      {error instanceof ApiError && error.status === 404 ? (
        <Empty title="Nothing has this trace id">
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
  const { began_at, duration_ms, spans, events, failed, services, others, is_cut, run, rows } = trace
  const facts = [
    ...(run ? [`run of the agent ${run.agent}, ${run.is_open ? 'which goes on' : run.status}`] : []),
    tookExactly(duration_ms),
    run
      ? `${count(spans - 1)} calls of models and tools`
      : `${count(spans)} ${spans === 1 ? 'span' : 'spans'} of ${count(services.length)} ${services.length === 1 ? 'service' : 'services'}`,
    ...(events > 0
      ? [
          run
            ? `${count(events)} ${events === 1 ? 'note' : 'notes'}`
            : `${count(events)} ${events === 1 ? 'event' : 'events'} that belong to them`,
        ]
      : []),
    failed === 0 ? 'none failed' : `${count(failed)} failed`,
    ...(run && rows[0] ? [usedWords(rows[0])] : []),
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
