/** Why a firing fired: its value against the predicate, when, and how much it carries. */
import { Alert, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import { durationWords } from '../../../schemas/duration-words.ts'
import type { FiringDetail } from '../../../schemas/types.ts'
import { predicateWords } from '../../../schemas/words.ts'
import { shortNumber } from '../../lib/backtest.ts'
import { deliveredWords } from '../../lib/firings.ts'
import { firingPath, runPath, triggerPath } from '../../lib/paths.ts'
import { count } from '../../lib/time.ts'
import { Fact } from '../../parts/fact.tsx'
import { When } from '../../parts/when.tsx'

export function FiringFacts({ firing }: { firing: FiringDetail }) {
  const { value, predicate, window, fired_at, opened_at, events, key_count, trigger } = firing
  return (
    <Stack gap="sm">
      <Waiting firing={firing} />
      <SimpleGrid cols={{ base: 2, sm: 3, lg: value === null ? 4 : 6 }}>
        {value !== null && <Fact title="Value">{shortNumber(value)}</Fact>}
        {value !== null && (
          <Fact title="Fires when">
            {predicate
              ? `${predicateWords(predicate)}${window ? ` within ${durationWords(window)}` : ''}`
              : '–'}
          </Fact>
        )}
        <Fact title={fired_at ? 'Fired' : 'Began'}>
          <When at={fired_at ?? opened_at} />
        </Fact>
        <Fact title="Events">{count(events)}</Fact>
        <Fact title="Entities">{count(key_count)}</Fact>
        <Fact title="Notified">{deliveredWords(firing)}</Fact>
      </SimpleGrid>
      <Group gap="md">
        <Text size="sm">
          Trigger <Link to={triggerPath(trigger)}>{trigger}</Link>
        </Text>
        {firing.resolves && (
          <Text size="sm">
            Resolves <Link to={firingPath(firing.resolves)}>an earlier firing</Link>
          </Text>
        )}
        {firing.held_back > 0 && (
          <Text size="sm">
            {count(firing.held_back)} {firing.held_back === 1 ? 'crossing was' : 'crossings were'} held back
            until it fired
          </Text>
        )}
        {firing.late_by !== null && (
          <Text size="sm">{count(Math.round(firing.late_by))} seconds after its time</Text>
        )}
        {firing.parent_run_id && (
          <Text size="sm">
            Tripped by a finding of <Link to={runPath(firing.parent_run_id)}>this run</Link>
          </Text>
        )}
      </Group>
    </Stack>
  )
}

/** What has not fired, or never will. */
function Waiting({ firing: { state, due_at } }: { firing: FiringDetail }) {
  if (state === 'fired') return null
  const when = due_at && (
    <>
      {' '}
      Decided <When at={due_at} only="relative" />.
    </>
  )
  return (
    <Alert color={state === 'dropped' ? 'gray' : 'yellow'} p="xs" role="status">
      {state === 'gathering' && <>A burst is still coming in.{when}</>}
      {state === 'held' && <>A limit holds it back.{when}</>}
      {state === 'dropped' && 'Dropped: fewer events than the minimum'}
    </Alert>
  )
}
