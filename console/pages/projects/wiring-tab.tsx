/** Which trigger wakes which agent, and which agent takes over on whose verdict. */
import {
  ActionIcon,
  Button,
  Group,
  Paper,
  Select,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
  Title,
  VisuallyHidden,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Project, Wiring } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { isSameWiring, withHandoff, withoutHandoff, withoutWake, withWake } from '../../lib/wiring-rows.ts'
import { Refusal } from '../../parts/refusal.tsx'

interface Edit {
  value: Wiring
  onChange: (value: Wiring) => void
}

export function WiringTab({ project: now }: { project: Project }) {
  const [project, setProject] = useState(now)
  const [wiring, setWiring] = useState<Wiring>(project.wiring)
  const show = (fresh: Project): void => {
    setProject(fresh)
    setWiring(fresh.wiring)
  }
  const save = useChange((version: number | undefined) => declared.wire(project.id, wiring, version), {
    said: () => 'The wiring is saved',
    onDone: show,
    quiet: true,
  })
  const isChanged = !isSameWiring(wiring, project.wiring)
  return (
    <Stack>
      <Wakes value={wiring} onChange={setWiring} />
      <Handoffs value={wiring} onChange={setWiring} />
      <Refusal
        error={save.error}
        onTakeTheirs={() => {
          save.reset()
          void declared.project(project.id).then(show)
        }}
        onKeepMine={() => save.mutate(undefined)}
      />
      <Group>
        <Button disabled={!isChanged} loading={save.isPending} onClick={() => save.mutate(project.version)}>
          Save wiring
        </Button>
        <Button variant="default" disabled={!isChanged} onClick={() => setWiring(project.wiring)}>
          Discard
        </Button>
      </Group>
    </Stack>
  )
}

function useNames(): { triggers: string[]; agents: string[] } {
  const triggers = useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers })
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  return {
    triggers: (triggers.data ?? []).map(({ name }) => name),
    agents: (agents.data?.agents ?? []).map(({ name }) => name),
  }
}

function Wakes({ value, onChange }: Edit) {
  const names = useNames()
  const [trigger, setTrigger] = useState<string | null>(null)
  const [agent, setAgent] = useState<string | null>(null)
  return (
    <Paper withBorder p="md" radius="md">
      <Title order={2} mb="xs">
        Wakes
      </Title>
      {value.wakes.length === 0 ? (
        <Text size="sm" c="dimmed">
          No trigger wakes an agent here yet.
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={420}>
          <Table verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When this trips</Table.Th>
                <Table.Th>it wakes</Table.Th>
                <Table.Th>On</Table.Th>
                <Table.Th>
                  <VisuallyHidden>Remove</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {value.wakes.map((wake) => (
                <Table.Tr key={`${wake.trigger}>${wake.agent}`}>
                  <Table.Td>{wake.trigger}</Table.Td>
                  <Table.Td>{wake.agent}</Table.Td>
                  <Table.Td>
                    <Switch
                      checked={wake.enabled ?? false}
                      onChange={(event) =>
                        onChange(withWake(value, { ...wake, enabled: event.currentTarget.checked }))
                      }
                      aria-label={`${wake.trigger} wakes ${wake.agent}`}
                    />
                  </Table.Td>
                  <Table.Td ta="right">
                    <ActionIcon
                      variant="subtle"
                      color="red"
                      aria-label={`Remove: ${wake.trigger} wakes ${wake.agent}`}
                      onClick={() => onChange(withoutWake(value, wake))}
                    >
                      <Trash2 size={15} aria-hidden />
                    </ActionIcon>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Group align="flex-end" mt="sm">
        <Select label="Trigger" data={names.triggers} value={trigger} onChange={setTrigger} searchable />
        <Select label="Agent" data={names.agents} value={agent} onChange={setAgent} searchable />
        <Button
          variant="default"
          disabled={!trigger || !agent}
          onClick={() => onChange(withWake(value, { trigger: trigger!, agent: agent!, enabled: true }))}
        >
          Add wake
        </Button>
      </Group>
    </Paper>
  )
}

function Handoffs({ value, onChange }: Edit) {
  const { agents } = useNames()
  const [agent, setAgent] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [verdict, setVerdict] = useState('')
  return (
    <Paper withBorder p="md" radius="md">
      <Title order={2} mb="xs">
        Handoffs
      </Title>
      {value.handoffs.length === 0 ? (
        <Text size="sm" c="dimmed">
          No agent takes over from another here yet.
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={520}>
          <Table verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When this agent</Table.Th>
                <Table.Th>concludes</Table.Th>
                <Table.Th>this one takes over</Table.Th>
                <Table.Th>at most once every</Table.Th>
                <Table.Th>
                  <VisuallyHidden>Remove</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {value.handoffs.map((row) => (
                <Table.Tr key={`${row.agent}/${row.verdict}/${row.to}`}>
                  <Table.Td>{row.agent}</Table.Td>
                  <Table.Td>{row.verdict}</Table.Td>
                  <Table.Td>{row.to}</Table.Td>
                  <Table.Td>
                    <TextInput
                      size="xs"
                      w={90}
                      value={row.cooldown ?? '30m'}
                      onChange={(event) =>
                        onChange(withHandoff(value, { ...row, cooldown: event.currentTarget.value }))
                      }
                      aria-label={`Wait before ${row.to} takes over from ${row.agent} again`}
                    />
                  </Table.Td>
                  <Table.Td ta="right">
                    <ActionIcon
                      variant="subtle"
                      color="red"
                      aria-label={`Remove: ${row.to} takes over from ${row.agent}`}
                      onClick={() => onChange(withoutHandoff(value, row))}
                    >
                      <Trash2 size={15} aria-hidden />
                    </ActionIcon>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Group align="flex-end" mt="sm">
        <Select label="Agent" data={agents} value={agent} onChange={setAgent} searchable />
        <TextInput
          label="Verdict"
          value={verdict}
          onChange={(event) => setVerdict(event.currentTarget.value)}
          w={130}
        />
        <Select
          label="Takes over"
          data={agents.filter((name) => name !== agent)}
          value={to}
          onChange={setTo}
          searchable
        />
        <Button
          variant="default"
          disabled={!agent || !to || !/^[A-Za-z][\w-]*$/.test(verdict)}
          onClick={() =>
            onChange(
              withHandoff(value, { agent: agent!, verdict: verdict.toLowerCase(), to: to!, cooldown: '30m' }),
            )
          }
        >
          Add handoff
        </Button>
      </Group>
    </Paper>
  )
}
