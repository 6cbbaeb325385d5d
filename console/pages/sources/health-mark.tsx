import { Group, Text } from '@mantine/core'
import type { SourceHealth } from '../../../schemas/types.ts'
import { When } from '../../parts/when.tsx'

const MARKS: Record<SourceHealth['status'], { colour: string; label: string }> = {
  ok: { colour: 'var(--mantine-color-teal-6)', label: 'healthy' },
  push: { colour: 'var(--mantine-color-teal-6)', label: 'listening' },
  starting: { colour: 'var(--mantine-color-blue-5)', label: 'starting' },
  paused: { colour: 'var(--mantine-color-gray-6)', label: 'paused' },
  refused: { colour: 'var(--mantine-color-yellow-6)', label: 'refused' },
  error: { colour: 'var(--mantine-color-red-6)', label: 'error' },
}

/** A source's state in a word, with the reason when it is not well. @param brief the word alone */
export function HealthMark({ health, brief = false }: { health: SourceHealth; brief?: boolean }) {
  const { colour, label } = MARKS[health.status]
  return (
    <Group gap={7} wrap="nowrap" align="baseline">
      <span className="dot" style={{ background: colour }} aria-hidden />
      <Text size="sm" component="span">
        {label}
        {health.reason && health.status !== 'paused' && !brief ? (
          <Text span size="sm" c="dimmed">
            {`: ${health.reason}`}
          </Text>
        ) : null}
        {health.status === 'error' && health.next_poll_at !== null && !brief && (
          <Text span size="sm" c="dimmed">
            {'; next try '}
            <When at={health.next_poll_at} />
          </Text>
        )}
        {health.notice !== null && !brief && (
          <Text size="xs" c="dimmed">
            {health.notice}
          </Text>
        )}
      </Text>
    </Group>
  )
}
