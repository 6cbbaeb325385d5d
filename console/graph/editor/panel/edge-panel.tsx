/** The side panel of a connection: switched, given another verdict or wait, taken away. */
import { Button, Group, Select, Stack, Switch, Text, Title } from '@mantine/core'
import { Unplug } from 'lucide-react'
import { useState } from 'react'
import type { GraphEdge } from '../../../../schemas/types.ts'
import { isDuration } from '../../../lib/trigger-draft.ts'
import { DurationInput } from '../../../parts/duration-input.tsx'
import { disconnectRefusal, verdictsOf } from '../../draft/edges.ts'
import { edgeWords, nameOf } from '../../draft/ids.ts'
import type { Actions } from '../state/use-actions.ts'
import type { Editor } from '../state/use-editor.ts'

interface Props {
  editor: Editor
  actions: Actions
  edge: GraphEdge
}
interface PanelProps extends Props {
  /** Opens a part instead. */
  onOpen: (id: string) => void
}

const EXPLAINED: Record<GraphEdge['kind'], string> = {
  feeds: 'The trigger judges each event of the source.',
  wakes:
    'When the trigger fires, the agent is woken with the timeline. Off: it fires, and this agent sleeps.',
  hands_off: 'When the agent concludes with the verdict, the other takes over the same entity.',
  uses: 'The agent may call tools of the server; which ones is set in its fields.',
  tells: 'What happens there is sent on.',
}

export function EdgePanel({ editor, actions, edge, onOpen }: PanelProps) {
  const refused = disconnectRefusal(editor.graph, edge)
  return (
    <Stack gap="md">
      <div>
        <Title order={2} style={{ overflowWrap: 'anywhere' }}>
          {edgeWords(edge)}
        </Title>
        <Text size="sm" c="dimmed">
          {EXPLAINED[edge.kind]}
        </Text>
      </div>
      {edge.kind === 'wakes' && <WakeSwitch actions={actions} edge={edge} />}
      {edge.kind === 'hands_off' && (
        <HandoffFields key={`${edge.id}/${edge.cooldown}`} editor={editor} actions={actions} edge={edge} />
      )}
      <Group>
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          leftSection={<Unplug size={13} aria-hidden />}
          onClick={() => void actions.remove([edge.id])}
          disabled={refused !== null}
        >
          Disconnect
        </Button>
        {edge.kind === 'uses' && (
          <Button size="compact-sm" variant="default" onClick={() => onOpen(edge.to)}>
            Edit {nameOf(edge.to)}
          </Button>
        )}
      </Group>
      {refused !== null && (
        <Text size="xs" c="dimmed">
          {refused}
        </Text>
      )}
    </Stack>
  )
}

export function WakeSwitch({ actions, edge }: { actions: Actions; edge: GraphEdge }) {
  return (
    <Switch
      checked={edge.enabled}
      onChange={(event) => actions.switchWake(edge, event.currentTarget.checked)}
      label={edge.enabled ? 'On' : 'Off'}
      aria-label={`${nameOf(edge.from)} wakes ${nameOf(edge.to)}`}
    />
  )
}

/** Verdict and wait of a handoff: they are changed together, in one step. */
export function HandoffFields({ editor, actions, edge }: Props) {
  const [verdict, setVerdict] = useState(edge.verdict ?? '')
  const [cooldown, setCooldown] = useState(edge.cooldown ?? '')
  const about = `from ${nameOf(edge.from)} to ${nameOf(edge.to)}`
  const isChanged = verdict !== edge.verdict || cooldown !== edge.cooldown
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        actions.changeHandoff(edge, { verdict, cooldown })
      }}
    >
      <Group align="flex-end" gap="xs">
        <Select
          label="On verdict"
          aria-label={`Verdict on which it goes ${about}`}
          data={verdictsOf(editor.graph, edge)}
          value={verdict}
          onChange={(value) => setVerdict(value ?? verdict)}
          allowDeselect={false}
          w={150}
          size="xs"
        />
        <DurationInput
          label="at most once every"
          aria-label={`Wait before it goes ${about} again`}
          value={cooldown}
          onChange={setCooldown}
          w={110}
          size="xs"
        />
        <Button type="submit" size="xs" variant="default" disabled={!isChanged || !isDuration(cooldown)}>
          Change
        </Button>
      </Group>
    </form>
  )
}
