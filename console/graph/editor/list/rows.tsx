/** A part and a connection as rows: what they are, what the draft does to them, and what can be done. */
import { ActionIcon, Anchor, Badge, Button, Checkbox, Group, Text } from '@mantine/core'
import { Unplug } from 'lucide-react'
import { durationWords } from '../../../../schemas/duration-words.ts'
import type { GraphEdge, GraphNode } from '../../../../schemas/types.ts'
import { partPath } from '../../../lib/fields.ts'
import { disconnectRefusal } from '../../draft/edges.ts'
import { edgeWords, partOf } from '../../draft/ids.ts'
import { HandoffFields, WakeSwitch } from '../panel/edge-panel.tsx'
import type { ListProps } from './props.ts'

const CHANGE_COLORS = { created: 'teal', changed: 'indigo', deleted: 'red' } as const

function ChangeMark({ editor, id }: Pick<ListProps, 'editor'> & { id: string }) {
  const change = editor.changes.get(id)
  if (!change) return null
  return (
    <Badge color={CHANGE_COLORS[change]} c="var(--mantine-color-text)" variant="light" tt="none">
      {wordOf(change, partOf(id) !== null && !editor.made.has(id))}
    </Badge>
  )
}

/** @param isShared a part that is there whether this project has it or not */
const wordOf = (change: keyof typeof CHANGE_COLORS, isShared: boolean): string =>
  isShared && change === 'created' ? 'joins' : change === 'deleted' ? 'goes' : change

export function NodeRow({
  editor,
  actions,
  isEditing,
  selected,
  onSelect,
  onOpen,
  node,
}: ListProps & { node: GraphNode }) {
  const part = partOf(node.id)
  const isGone = editor.changes.get(node.id) === 'deleted'
  const canEdit = isEditing && part !== null && !isGone
  return (
    <li>
      <Group gap="xs" wrap="wrap">
        {canEdit && (
          <Checkbox
            size="xs"
            aria-label={`Select ${node.name}`}
            checked={selected.includes(node.id)}
            onChange={(event) =>
              onSelect(
                event.currentTarget.checked
                  ? [...selected, node.id]
                  : selected.filter((id) => id !== node.id),
              )
            }
          />
        )}
        <div style={{ flex: '1 1 180px', minWidth: 0 }}>
          <Text
            size="sm"
            fw={600}
            component="span"
            td={isGone ? 'line-through' : undefined}
            style={{ overflowWrap: 'anywhere' }}
          >
            {part && !isEditing && node.state !== 'missing' ? (
              <Anchor href={partPath(part.kind, part.name)} inherit underline="always">
                {node.name}
              </Anchor>
            ) : (
              node.name
            )}
          </Text>
          <Text size="xs" c="dimmed" lineClamp={1} style={{ overflowWrap: 'anywhere' }}>
            {node.detail}
          </Text>
        </div>
        <ChangeMark editor={editor} id={node.id} />
        {node.state !== 'active' && (
          <Badge variant="default" tt="none">
            {node.state}
          </Badge>
        )}
        {node.shared_with.length > 0 && (
          <Badge variant="default" tt="none">
            shared with {node.shared_with.map(({ name }) => name).join(', ')}
          </Badge>
        )}
        {canEdit && <NodeActions node={node} part={part} actions={actions} onOpen={onOpen} />}
      </Group>
    </li>
  )
}

function NodeActions({
  node,
  part,
  actions,
  onOpen,
}: Pick<ListProps, 'actions' | 'onOpen'> & {
  node: GraphNode
  part: NonNullable<ReturnType<typeof partOf>>
}) {
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => onOpen(node.id)}
        aria-label={`Edit ${node.name}`}
      >
        Edit
      </Button>
      {(part.kind === 'source' || part.kind === 'trigger') && node.state !== 'missing' && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => actions.pause(part, node.state === 'paused' ? 'resume' : 'pause')}
          aria-label={`${node.state === 'paused' ? 'Resume' : 'Pause'} ${node.name}`}
        >
          {node.state === 'paused' ? 'Resume' : 'Pause'}
        </Button>
      )}
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => void actions.remove([node.id])}
        aria-label={`Take ${node.name} out of the project`}
      >
        Take out
      </Button>
    </Group>
  )
}

export function EdgeRow({ editor, actions, isEditing, onOpen, edge }: ListProps & { edge: GraphEdge }) {
  const isGone = editor.changes.get(edge.id) === 'deleted'
  const canEdit = isEditing && !isGone
  const words = edgeWords(edge)
  const refused = disconnectRefusal(editor.graph, edge)
  return (
    <li>
      <Group gap="xs" wrap="wrap">
        <Text
          size="sm"
          td={isGone ? 'line-through' : undefined}
          style={{ flex: '1 1 180px', minWidth: 0, overflowWrap: 'anywhere' }}
        >
          {words}
          {edge.kind === 'hands_off' &&
            !canEdit &&
            `, at most once every ${durationWords(edge.cooldown ?? '')}`}
          {!edge.enabled && !canEdit && ' (off)'}
        </Text>
        <ChangeMark editor={editor} id={edge.id} />
        {canEdit && edge.kind === 'wakes' && <WakeSwitch actions={actions} edge={edge} />}
        {canEdit && edge.kind === 'hands_off' && (
          <HandoffFields key={`${edge.id}/${edge.cooldown}`} editor={editor} actions={actions} edge={edge} />
        )}
        {canEdit && edge.kind !== 'tells' && (
          <ActionIcon
            variant="subtle"
            color="red"
            // A refused button says why when it is pressed: what is disabled cannot be asked.
            aria-label={`Disconnect: ${words}`}
            onClick={() => (refused === null ? void actions.remove([edge.id]) : onOpen(edge.id))}
          >
            <Unplug size={15} aria-hidden />
          </ActionIcon>
        )}
      </Group>
    </li>
  )
}
