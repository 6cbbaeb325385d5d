/** What triggers made of events: the reason as a chip, and the same in a sentence. */
import { Group, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { WhyRecord } from '../../schemas/types.ts'
import { reasonWords } from '../lib/backtest.ts'
import { firingPath, triggerPath } from '../lib/paths.ts'
import { instantsIn, reasonTone } from '../lib/why.ts'
import { Mark } from './mark.tsx'
import { useNow } from './use-now.ts'
import { When } from './when.tsx'

export function WhyRecords({
  records,
  without,
}: {
  records: readonly WhyRecord[]
  /** What the place already says. */
  without?: 'trigger'
}) {
  return (
    <Stack gap={6} component="ul" fz="sm" m={0} p={0} style={{ listStyle: 'none' }}>
      {records.map((record) => (
        <li key={record.trigger}>
          <Group gap={8} align="baseline">
            {without !== 'trigger' && <Link to={triggerPath(record.trigger, 'why')}>{record.trigger}</Link>}
            <WhyMark reason={record.reason} />
            <WhyText record={record} />
          </Group>
        </li>
      ))}
    </Stack>
  )
}

export function WhyMark({ reason }: { reason: WhyRecord['reason'] }) {
  return <Mark tone={reasonTone(reason)}>{reasonWords(reason)}</Mark>
}

export function WhyText({ record: { text, until, dispatch_id, recomputed } }: { record: WhyRecord }) {
  const now = useNow()
  return (
    <Text size="sm" component="span" style={{ overflowWrap: 'anywhere' }}>
      {/* biome-ignore lint/suspicious/noArrayIndexKey: pieces of a sentence have no identity but their place. */}
      {instantsIn(text).map((piece, at) => (at % 2 ? <When key={at} at={piece} /> : piece))}
      {until && Date.parse(until) > now && (
        <>
          {' '}
          (ends <When at={until} />)
        </>
      )}
      {dispatch_id && (
        <>
          {' '}
          · <Link to={firingPath(dispatch_id)}>its firing</Link>
        </>
      )}
      {recomputed && (
        <Text span size="xs" c="dimmed" title="By the trigger as it is now, over what was stored before">
          {' '}
          · worked out now
        </Text>
      )}
    </Text>
  )
}
