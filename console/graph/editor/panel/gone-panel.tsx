/** In place of a form whose part somebody else deleted, took out or renamed: why it is gone, and what was typed into it. */
import { Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import { declared, dkeys } from '../../../declared-client.ts'
import { dropDraft, writeDraft } from '../../../lib/drafts.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { nameOf, nodeId, partOf } from '../../draft/ids.ts'
import { patchBetween } from '../../draft/patch.ts'
import type { Editor } from '../state/use-editor.ts'
import { formOf, type Typed } from '../state/use-typed.ts'

interface Props {
  editor: Editor
  /** Node, as it was. */
  id: string
  onOpen: (id: string) => void
  onClose: () => void
}

export function GonePanel({ editor: { live }, id, onOpen, onClose }: Props) {
  const { pathname } = useLocation()
  const part = partOf(id)
  const kept = useDraft<Typed>({ form: formOf(id), start: { name: '', from: {}, spec: null } })
  const { spec, from } = kept.value
  const typed = spec && patchBetween(from, spec)
  const { data } = useQuery({
    queryKey: [...dkeys.changes(live.project.id), 'of', id, live.version],
    queryFn: () => declared.changes({ project: live.project.id }),
  })
  const renamed = data?.change_sets
    .flatMap(({ changes }) => changes)
    .find(({ kind, renamed_from }) => kind === part?.kind && renamed_from === part?.name)
  const isHere = renamed !== undefined && live.nodes.some((node) => node.id === nodeId(renamed))
  const follow = (to: string) => {
    // What was typed goes along.
    if (typed)
      writeDraft(window.localStorage, `${pathname}#${formOf(to)}`, {
        base: null,
        at: Date.now(),
        value: kept.value,
      })
    dropDraft(window.localStorage, `${pathname}#${formOf(id)}`)
    onOpen(to)
  }
  return (
    <Stack gap="md" role="status">
      <Title order={2} style={{ overflowWrap: 'anywhere' }}>
        {nameOf(id)}
      </Title>
      <Text size="sm">
        {isHere
          ? `This part was renamed while its form was open: its name is now ${renamed.name}.`
          : 'This part was deleted, or taken out of this project, while its form was open.'}
      </Text>
      {typed && (
        <div>
          <Text size="sm" mb={4}>
            What was typed here, and is no step of the draft:
          </Text>
          <Code block>
            {Object.entries(typed)
              .map(
                ([field, value]) => `${field}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
              )
              .join('\n')}
          </Code>
        </div>
      )}
      <Group>
        {isHere && <Button onClick={() => follow(nodeId(renamed))}>Edit {renamed.name}</Button>}
        <Button
          variant="default"
          onClick={() => {
            kept.discard()
            onClose()
          }}
        >
          {typed ? 'Discard it' : 'Close'}
        </Button>
      </Group>
    </Stack>
  )
}
