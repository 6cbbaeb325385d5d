/** Why the node or the edge that was picked did, or did not, act at the moment. */
import { Button, Group, List, Stack, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import type { ReplayMoment } from '../../../schemas/types.ts'
import { EventWhy } from '../../parts/event-why.tsx'
import type { Frame } from '../frame.ts'
import { type Told, whyOf } from '../why.ts'
import { MomentRow } from './moments-panel.tsx'

interface Props {
  selected: string | null
  frame: Frame
  moments: readonly ReplayMoment[]
  onGo: (index: number) => void
  onClear: () => void
}

export function WhyPanel({ selected, frame, moments, onGo, onClear }: Props) {
  const why = useMemo(
    () => (selected === null ? null : whyOf(selected, frame, moments)),
    [selected, frame, moments],
  )
  if (!why)
    return (
      <Text size="sm" c="dimmed">
        Pick a part or a line of the graph: here it says why it did, or did not, act at the moment.
      </Text>
    )
  return (
    <Stack gap="sm">
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Title order={2} style={{ overflowWrap: 'anywhere' }}>
          {why.title}
        </Title>
        <Button size="compact-sm" variant="default" onClick={onClear} style={{ flex: 'none' }}>
          Let go
        </Button>
      </Group>
      {why.state.length > 0 && (
        <List size="sm" spacing={4} aria-label="How it stood">
          {why.state.map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
      )}
      <Moments title="At this moment" told={why.now} index={frame.index} onGo={onGo}>
        {why.before.length > 0 || why.state.length > 0 ? 'Nothing happened at this moment.' : ''}
      </Moments>
      {why.event && <EventWhy event={why.event} trigger={why.trigger} />}
      {why.before.length > 0 && (
        <Moments title="Before" told={why.before} index={frame.index} onGo={onGo}>
          {''}
        </Moments>
      )}
    </Stack>
  )
}

function Moments({
  title,
  told,
  index,
  onGo,
  children,
}: {
  title: string
  told: readonly Told[]
  index: number
  onGo: (index: number) => void
  /** Said where there are none. */
  children: string
}) {
  return (
    <section aria-label={title}>
      <Text size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {told.length === 0 ? (
        <Text size="sm" c="dimmed">
          {children}
        </Text>
      ) : (
        <div className="replay-told">
          {told.map((one) => (
            <MomentRow
              key={one.index}
              moment={one.moment}
              isCurrent={one.index === index}
              onGo={() => onGo(one.index)}
            />
          ))}
        </div>
      )}
    </section>
  )
}
