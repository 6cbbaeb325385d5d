/** Says above the incidents which maintenance lasts: what fires of it is held back. */
import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import * as calls from '../../../api/client/calls.ts'
import { ask } from '../../client.ts'
import { moment } from '../../lib/time.ts'

/** Windows begin and end by the clock. */
const AGAIN_MS = 60_000

export function InMaintenance() {
  // Asked here, not by its client: the list loads no acts of it.
  const { data } = useQuery({
    queryKey: ['work', 'maintenance', 'active'],
    queryFn: () => ask(calls.listMaintenance, { state: 'active' }),
    refetchInterval: AGAIN_MS,
  })
  return data?.windows.map(({ id, until, reason }) => (
    <Alert key={id} color="yellow" p="xs">
      <Link to="?tab=maintenance">Maintenance</Link> until {moment(Date.parse(until), Date.now())}: {reason}
    </Alert>
  ))
}
