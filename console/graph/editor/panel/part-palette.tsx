/** What can be added: new parts by kind, and parts that are there but not in the project yet. */
import { Button, Group, Stack, Text, TextInput, Title, UnstyledButton } from '@mantine/core'
import { Plus, Search } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { KIND_WORDS } from '../../../lib/fields.ts'
import { nodeId, PART_KINDS, type PartKind } from '../../draft/ids.ts'
import { type DraggedPart, PART_DRAG_TYPE } from '../../types.ts'
import type { Actions } from '../state/use-actions.ts'

const SHOWN_MAX = 60

interface Props {
  actions: Actions
  onNew: (kind: PartKind) => void
  onAdded: (id: string) => void
}

const carry = (part: DraggedPart) => (event: DragEvent) => {
  event.dataTransfer.setData(PART_DRAG_TYPE, JSON.stringify(part))
  event.dataTransfer.effectAllowed = 'copy'
}

export function PartPalette({ actions, onNew, onAdded }: Props) {
  const [filter, setFilter] = useState('')
  const word = filter.trim().toLowerCase()
  const found = actions.free.filter(({ kind, name, what }) =>
    `${kind} ${name} ${what}`.toLowerCase().includes(word),
  )
  return (
    <Stack gap="sm" component="section" aria-label="Parts to add">
      <Title order={2} size="sm">
        New
      </Title>
      <Group gap={6}>
        {PART_KINDS.map((kind) => (
          <Button
            key={kind}
            size="compact-sm"
            variant="default"
            leftSection={<Plus size={13} aria-hidden />}
            draggable
            onDragStart={carry({ kind, name: null })}
            onClick={() => onNew(kind)}
            aria-label={`Add ${KIND_WORDS[kind]!.one}`}
          >
            {KIND_WORDS[kind]!.one}
          </Button>
        ))}
      </Group>
      <Text size="xs" c="dimmed">
        Slack, webhooks and GitHub are set in an agent, under More options, or in the subscriptions of a
        trigger.
      </Text>
      <Title order={2} size="sm">
        Already there
      </Title>
      {actions.free.length === 0 ? (
        <Text size="sm" c="dimmed">
          {actions.taken.size === 0 ? 'No parts exist yet.' : 'All parts are in this project.'}
        </Text>
      ) : (
        <TextInput
          aria-label="Search parts to add"
          placeholder="Search parts"
          leftSection={<Search size={14} aria-hidden />}
          value={filter}
          onChange={(event) => setFilter(event.currentTarget.value)}
          size="xs"
        />
      )}
      <ul aria-label="Parts that are there" className="palette-parts">
        {found.slice(0, SHOWN_MAX).map((part) => (
          <li key={nodeId(part)}>
            <UnstyledButton
              className="palette-part"
              draggable
              onDragStart={carry({ kind: part.kind, name: part.name })}
              onClick={() => {
                if (actions.addExisting([part])) onAdded(nodeId(part))
              }}
              aria-label={`Add ${KIND_WORDS[part.kind]!.one} ${part.name}`}
            >
              <Text size="sm" fw={600} component="span" style={{ overflowWrap: 'anywhere' }}>
                {part.name}
              </Text>
              <Text size="xs" c="dimmed" component="span" display="block">
                {KIND_WORDS[part.kind]!.one} · {usedText(part.usedBy)}
              </Text>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      {found.length > SHOWN_MAX && (
        <Text size="xs" c="dimmed">
          and {found.length - SHOWN_MAX} more: search for them.
        </Text>
      )}
      {word !== '' && found.length === 0 && (
        <Text size="sm" c="dimmed">
          No unused part has that name.
        </Text>
      )}
    </Stack>
  )
}

const usedText = (projects: readonly { name: string }[]): string =>
  projects.length === 0 ? 'in no project' : `in ${projects.map(({ name }) => name).join(', ')}`
