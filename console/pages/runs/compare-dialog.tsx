/** Which run to look at beside this one: the one it repeats first, then others of its agent on the entity. */
import { Button, List, Modal, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Run } from '../../../schemas/types.ts'
import { comparePath } from '../../lib/paths.ts'
import { moment } from '../../lib/time.ts'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'

const CANDIDATES = 20

export function CompareButton({ run }: { run: Run }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Compare…
      </Button>
      <Modal opened={open} onClose={() => setOpen(false)} title="Compare it with" size="lg">
        <Candidates run={run} />
      </Modal>
    </>
  )
}

function Candidates({ run }: { run: Run }) {
  const query = { agent: run.agent, entity: run.key }
  const { data, error, isPending, refetch } = useQuery({
    queryKey: rkeys.list(query, CANDIDATES, 0),
    queryFn: () => runs.list(query, CANDIDATES),
  })
  if (isPending) return <LoadingRows rows={3} />
  if (error) return <Failed what="runs" error={error} onRetry={() => void refetch()} />
  const others = data.runs.filter(({ id }) => id !== run.id)
  const isListed = others.some(({ id }) => id === run.rerun_of)
  if (others.length === 0 && !run.rerun_of)
    return (
      <Text size="sm" c="dimmed">
        {run.agent} has not run on {run.key} another time. Rerun it to have two.
      </Text>
    )
  return (
    <List spacing="sm" listStyleType="none" aria-label="Other runs">
      {run.rerun_of && !isListed && (
        <List.Item>
          <Link to={comparePath(run.rerun_of, run.id)}>The run it repeats</Link>
        </List.Item>
      )}
      {others.map((other) => (
        <List.Item key={other.id}>
          <Link to={comparePath(...inOrder(run.id, other.id))}>{nameOf(other, run)}</Link>
          <RunMarks run={other} />
          {(other.verdict || other.headline) && (
            <Text size="sm" c="dimmed">
              {other.verdict} {other.headline}
            </Text>
          )}
        </List.Item>
      ))}
    </List>
  )
}

function nameOf(other: Run, run: Run): string {
  const at = moment(Date.parse(other.made_at), Date.now())
  if (other.id === run.rerun_of) return `The run it repeats, ${at}`
  return other.rerun_of === run.id ? `A rerun of it, ${at}` : at
}

/** The earlier one is on the left; ids of runs grow with time. */
const inOrder = (a: string, b: string): [string, string] => (a < b ? [a, b] : [b, a])
