/** What an entity calls, runs on and is owned by, each with its state. */
import { List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { EntityNeighbours } from '../../schemas/types.ts'
import { declared, dkeys } from '../declared-client.ts'
import { ago, count } from '../lib/time.ts'
import { useNow } from './use-now.ts'

type Neighbour = EntityNeighbours['neighbours'][number]

const WORDS: Readonly<Record<Neighbour['edge'], string>> = {
  calls: 'Calls',
  called_by: 'Called by',
  runs_on: 'Runs on',
  runs: 'Runs',
  owned_by: 'Owned by',
  owns: 'Owns',
}

const SIGNS: Readonly<Record<Neighbour['by'], string>> = {
  traces: 'in traces',
  labels: 'on events of both',
  rules: 'by a rule',
}

/** @param to end of the day that is looked at; absent: now */
export function NeighbourList({ label, value, to }: { label: string; value: string; to?: string }) {
  const { data, error } = useQuery({
    queryKey: dkeys.neighbours(label, value, to ?? ''),
    queryFn: () => declared.neighbours({ label, value, ...(to === undefined ? {} : { to }) }),
    staleTime: 60_000,
  })
  if (error) return <Text size="sm">Neighbours could not be read: {error.message}</Text>
  if (!data) return <Text size="sm">Looking at its traces and labels…</Text>
  if (data.neighbours.length === 0)
    return (
      <Text size="sm" c="dimmed">
        None seen in a day: no trace of it crosses to another service, no label says where it runs, and no
        rule names one.
      </Text>
    )
  return (
    <List size="sm" listStyleType="none" spacing={6} mt={4}>
      {data.neighbours.map((one) => (
        <List.Item key={`${one.edge} ${one.label}=${one.value}`}>
          <OneNeighbour of={one} />
        </List.Item>
      ))}
    </List>
  )
}

function OneNeighbour({ of }: { of: Neighbour }) {
  const now = useNow()
  const { edge, label, value, by, count: n, last_seen: seen, open_incidents: open } = of
  return (
    <>
      {WORDS[edge]}{' '}
      <Link className="mono" to={`/explore?${new URLSearchParams({ l: `${label}=${value}` })}`}>
        {label}={value}
      </Link>
      <div style={{ color: 'var(--text-2)' }}>
        {by === 'rules' ? SIGNS[by] : `${count(n)} ${SIGNS[by]}`}
        {seen === null ? ', no events in a day' : `, seen ${ago(seen, now)}`}
        {open > 0 && (
          <>
            {' · '}
            <Link to="/incidents" style={{ color: 'var(--critical)' }}>
              {open} open {open === 1 ? 'incident' : 'incidents'}
            </Link>
          </>
        )}
      </div>
    </>
  )
}
