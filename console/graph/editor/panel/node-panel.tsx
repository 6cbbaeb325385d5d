/** The side panel of a node: what it is, what can be done with it, and all of its fields. */
import { Anchor, Badge, Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { Copy, CopyPlus, Pause, Play, Trash2, Unplug } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { GraphNode } from '../../../../schemas/types.ts'
import { KIND_WORDS, partPath } from '../../../lib/fields.ts'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import { operationsOf } from '../../draft/draft.ts'
import { nodeId, type PartRef } from '../../draft/ids.ts'
import type { Fields } from '../../draft/values.ts'
import { PartForm } from '../forms/part-form.tsx'
import { faultsOf } from '../state/problems.ts'
import { useSpec } from '../state/specs.ts'
import type { Actions } from '../state/use-actions.ts'
import type { Editor } from '../state/use-editor.ts'
import { formOf, useTyped } from '../state/use-typed.ts'
import { ConnectTo } from './connect-to.tsx'

interface Props {
  editor: Editor
  actions: Actions
}

interface NodeProps extends Props {
  node: GraphNode
  onOpen: (opened: { id: string }) => void
}

export function NodePanel({ editor, actions, node, onOpen }: NodeProps) {
  if (node.kind === 'destination')
    return (
      <Stack gap="xs">
        <Title order={2}>{node.name}</Title>
        <Text size="sm">{node.detail}</Text>
        <Text size="sm" c="dimmed">
          Where findings and firings are told is set in the fields of an agent and in the subscriptions of a
          trigger.
        </Text>
      </Stack>
    )
  const part: PartRef = { kind: node.kind, name: node.name }
  return (
    <Stack gap="md">
      <Head editor={editor} actions={actions} node={node} part={part} onOpen={onOpen} />
      {node.state === 'missing' ? (
        <Text size="sm">This part no longer exists. Repair it on the tab Parts, or remove it.</Text>
      ) : (
        <ExistingPart key={node.id} editor={editor} actions={actions} part={part} />
      )}
    </Stack>
  )
}

function Head({ editor, actions, node, part, onOpen }: NodeProps & { part: PartRef }) {
  const isMade = editor.made.has(node.id)
  const isPaused = node.state === 'paused'
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Title order={2} style={{ overflowWrap: 'anywhere' }}>
          {node.name}
        </Title>
        <Badge variant="default" tt="none">
          {KIND_WORDS[part.kind]!.one}
        </Badge>
        {isMade && (
          <Badge color="teal" c="var(--mantine-color-text)" variant="light" tt="none">
            new
          </Badge>
        )}
        {isPaused && (
          <Badge color="gray" variant="light" tt="none">
            paused
          </Badge>
        )}
      </Group>
      {node.shared_with.length > 0 && (
        <Text size="sm">
          Also in {node.shared_with.map(({ name }) => name).join(', ')}: a change of its fields reaches them,
          too.
        </Text>
      )}
      <Acts actions={actions} node={node} part={part} isMade={isMade} onOpen={onOpen} />
      {!isMade && (
        <Text size="xs" c="dimmed">
          <Code>svc {KIND_WORDS[part.kind]!.path.slice(1)} rename</Code> changes its name and keeps its
          history; a copy begins anew.
        </Text>
      )}
      {!isMade && node.state !== 'missing' && (
        <Anchor component={Link} to={pageOf(part, editor.live.project.id)} size="sm" underline="always">
          {part.kind === 'trigger'
            ? 'Its page, with backtests'
            : part.kind === 'agent'
              ? 'Its page, with runs and tests'
              : 'Its page'}
        </Anchor>
      )}
      <ConnectTo editor={editor} actions={actions} node={node} />
    </Stack>
  )
}

function Acts({
  actions,
  node,
  part,
  isMade,
  onOpen,
}: Omit<NodeProps, 'editor'> & { part: PartRef; isMade: boolean }) {
  const canPause = (part.kind === 'source' || part.kind === 'trigger') && node.state !== 'missing'
  const isPaused = node.state === 'paused'
  // The copy is what is worked on next.
  const duplicate = async () => {
    const copied = actions.selection([node.id])
    const [id] = copied ? await actions.paste(copied, 'copy') : []
    if (id !== undefined) onOpen({ id })
  }
  return (
    <Group gap={6}>
      {canPause && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={isPaused ? <Play size={13} aria-hidden /> : <Pause size={13} aria-hidden />}
          onClick={() => actions.pause(part, isPaused ? 'resume' : 'pause')}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Copy size={13} aria-hidden />}
        onClick={() => void actions.copy([node.id])}
      >
        Copy
      </Button>
      {node.state !== 'missing' && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<CopyPlus size={13} aria-hidden />}
          onClick={() => void duplicate()}
        >
          Duplicate
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Unplug size={13} aria-hidden />}
        onClick={() => void actions.remove([node.id])}
      >
        Take out
      </Button>
      {!isMade && (
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          leftSection={<Trash2 size={13} aria-hidden />}
          onClick={() => actions.deleteParts([node.id])}
        >
          Delete everywhere
        </Button>
      )}
    </Group>
  )
}

const pageOf = ({ kind, name }: PartRef, project: string): string =>
  kind === 'skill'
    ? `${partPath(kind, name)}?project=${encodeURIComponent(project)}`
    : kind === 'trigger' || kind === 'agent'
      ? `${partPath(kind, name)}?tab=edit`
      : partPath(kind, name)

function ExistingPart({ editor, actions, part }: Props & { part: PartRef }) {
  const { stored, spec, error, isPending } = useSpec(part, editor.draft ? operationsOf(editor.draft) : [])
  if (isPending) return <LoadingRows rows={4} />
  if (error) return <Failed what="the part" error={error} />
  if (!spec) return <Text size="sm">Removed in this draft</Text>
  // The fields are filled in anew from the draft.
  return (
    <EditedPart
      key={JSON.stringify(spec)}
      editor={editor}
      actions={actions}
      part={part}
      spec={spec}
      configured={stored?.configured ?? []}
    />
  )
}

function EditedPart({
  editor,
  actions,
  part,
  spec,
  configured,
}: Props & { part: PartRef; spec: Fields; configured: readonly string[] }) {
  const kept = useTyped(formOf(nodeId(part)), part.kind, spec)
  const { edited } = kept
  const [isTried, setTried] = useState(false)
  return (
    <form
      {...kept.hands}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (edited === null || Object.keys(edited.missing).length > 0) return
        // The focus stays near.
        event.currentTarget.closest<HTMLElement>('[tabindex="-1"]')?.focus()
        kept.done()
        if (!actions.edit(part, edited.before, edited.after))
          editor.say('Nothing differs from what is there.')
      }}
    >
      <Stack gap="md">
        <DraftRestored of={kept} />
        <PartForm
          key={kept.round}
          kind={part.kind}
          name={part.name}
          spec={spec}
          typed={kept.typed}
          isNew={false}
          configured={configured}
          errors={{ ...faultsOf(editor, part), ...(isTried ? edited?.missing : {}) }}
          onEdit={kept.onEdit}
        />
        <Group>
          <Button type="submit" disabled={edited === null}>
            Change in the draft
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
