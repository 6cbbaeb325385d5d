/** "What if…": one part of then is changed, and what would have come of it is told beside what happened. */
import { Alert, Modal, Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { GraphNode, Replay } from '../../../schemas/types.ts'
import { byName } from '../../lib/by-name.ts'
import type { Frame } from '../frame.ts'
import { AgentFork } from './agent-fork.tsx'
import { TriggerFork } from './trigger-fork.tsx'

interface Props {
  replay: Replay
  frame: Frame
  /** What is picked on the graph. */
  selected: string | null
  onInstant: (instant: number) => void
  onClose: () => void
}

export function WhatIf({ replay, frame, selected, onInstant, onClose }: Props) {
  // The dialog is about the moment it was opened at.
  const [then] = useState(frame)
  const parts = then.graph.nodes.filter(
    ({ kind, state }) => (kind === 'trigger' || kind === 'agent') && state !== 'missing',
  )
  const [id, setId] = useState(() => firstOf(parts, then, selected, replay))
  const part = parts.find((one) => one.id === id)
  return (
    <Modal opened onClose={onClose} title="What if…" size="min(980px, 100vw)">
      <Stack>
        <Text size="sm">
          Change a trigger or an agent as it was at this moment, and see what would have come of the same
          events. Nothing is saved or sent: the run is practice and is not counted.
        </Text>
        {parts.length === 0 ? (
          <Alert color="gray">There was no trigger and no agent then.</Alert>
        ) : (
          <Select
            label="What is changed"
            data={byName(parts).map((one) => ({ value: one.id, label: `${one.kind} ${one.name}` }))}
            value={id}
            onChange={setId}
            allowDeselect={false}
            maw={420}
            data-autofocus
          />
        )}
        {part?.kind === 'trigger' && (
          <TriggerFork
            key={part.id}
            replay={replay}
            version={then.graph.version}
            name={part.name}
            onInstant={(instant) => {
              onInstant(instant)
              onClose()
            }}
          />
        )}
        {part?.kind === 'agent' && <AgentFork key={part.id} replay={replay} frame={then} node={part} />}
      </Stack>
    </Modal>
  )
}

/** What is picked, else what the moment is about, else the first. */
function firstOf(
  parts: readonly GraphNode[],
  { moment, index }: Frame,
  selected: string | null,
  { moments }: Replay,
): string | null {
  const has = (id: string): boolean => parts.some((one) => one.id === id)
  if (selected !== null && has(selected)) return selected
  const about = moment?.nodes.find(has)
  if (about) return about
  const firing = moments.slice(0, index + 1).findLast(({ kind }) => kind === 'firing')
  return firing?.nodes.find(has) ?? parts[0]?.id ?? null
}
