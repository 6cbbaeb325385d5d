/** Says above the incidents which maintenance lasts: what fires of it is held back. */
import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { moment } from '../../lib/time.ts'
import { maintenance, mkeys } from '../../maintenance-client.ts'

/** Windows begin and end by the clock. */
const AGAIN_MS = 60_000

export function InMaintenance() {
  const { data = [] } = useQuery({
    queryKey: mkeys.list('active'),
    queryFn: () => maintenance.list('active'),
    refetchInterval: AGAIN_MS,
  })
  return data.map(({ id, until, reason }) => (
    <Alert key={id} color="yellow" p="xs">
      <Link to="?tab=maintenance">Maintenance</Link> until {moment(Date.parse(until), Date.now())}: {reason}
    </Alert>
  ))
}
