import { Group, Text } from '@mantine/core'
import type { Source } from '../../../schemas/types.ts'
import { sourceState } from '../../lib/source-words.ts'
import { Mark } from '../../parts/mark.tsx'
import { When } from '../../parts/when.tsx'

function stateOf({ health: { status, last_ingest }, mode }: Pick<Source, 'health' | 'mode'>): string {
  if (status === 'refused') return 'error'
  if (status !== 'ok' && status !== 'push') return status
  return last_ingest === null && mode !== 'reference' ? 'waiting' : 'receiving'
}

/** A source's state in a word, with the reason when it is not well. @param brief the word alone */
export function HealthMark({
  source,
  brief = false,
}: {
  source: Pick<Source, 'health' | 'mode'>
  brief?: boolean
}) {
  const { reason, status, next_poll_at, notice } = source.health
  return (
    <Group gap={7} align="baseline">
      <Mark {...sourceState(stateOf(source))} />
      {!brief && (
        <Text size="sm" c="dimmed" component="span">
          {status !== 'paused' && reason}
          {status === 'error' && next_poll_at !== null && (
            <>
              {'; next try '}
              <When at={next_poll_at} />
            </>
          )}
          {notice !== null && <Text size="xs">{notice}</Text>}
        </Text>
      )}
    </Group>
  )
}
