/** A project of parts that are there: they are adopted, nothing is made. */
import { Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { api, keys } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'

/** Parts that can be picked, as kind:name, those of a project left out. */
function useFreeParts(): { group: string; items: { value: string; label: string }[] }[] {
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const triggers = useQuery({ queryKey: dkeys.triggers, queryFn: declared.triggers })
  const agents = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  const servers = useQuery({ queryKey: dkeys.mcpServers, queryFn: declared.mcpServers })
  const group = (
    title: string,
    kind: string,
    parts: readonly { name: string; owned_by: string | null }[] = [],
  ) => ({
    group: title,
    items: parts
      .filter(({ owned_by }) => owned_by === null)
      .map(({ name }) => ({ value: `${kind}:${name}`, label: name })),
  })
  return [
    group('Sources', 'source', sources.data),
    group('Triggers', 'trigger', triggers.data),
    group('Agents', 'agent', agents.data?.agents),
    group('MCP servers', 'mcp_server', servers.data),
  ]
}

export function CustomProject() {
  const go = useNavigate()
  const kept = useDraft({ form: 'project', start: { name: '', goal: '', picked: [] as string[] } })
  const { name, goal, picked } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const parts = useFreeParts()
  const create = useChange(
    () =>
      declared.createProject({
        template: 'custom',
        name: name.trim(),
        ...(goal.trim() ? { goal: goal.trim() } : {}),
        objects: picked.map(refOf),
      }),
    {
      said: (project) => `${project.name} is running`,
      onDone: (project) => {
        kept.done()
        void go(`/projects/${project.id}`)
      },
      quiet: true,
    },
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate(undefined)
      }}
    >
      <Stack maw={640}>
        <DraftRestored of={kept} />
        <TextInput
          label="Name"
          {...marksOf(fieldErrors(create.error))('name')}
          value={name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          required
          maxLength={80}
          data-autofocus
        />
        <TextInput
          label="Goal"
          {...marksOf(fieldErrors(create.error))('goal')}
          description="What it is for, in one line."
          value={goal}
          onChange={(event) => set({ goal: event.currentTarget.value })}
          maxLength={200}
        />
        <MultiSelect
          label="Parts"
          description="Each joins with what it needs. Parts of other projects are shared from their own page."
          data={parts}
          value={picked}
          onChange={(parts) => set({ picked: parts })}
          searchable
          clearable
          nothingFoundMessage="No part of that name is free"
        />
        <Text size="sm" c="dimmed">
          A project can start empty; add parts on its page.
        </Text>
        <Refusal title="Couldn’t create the project" error={create.error} />
        <Group>
          <Button type="submit" loading={create.isPending}>
            Create project
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** kind:name as the API takes it. */
function refOf(value: string): { kind: 'source' | 'trigger' | 'agent' | 'mcp_server'; name: string } {
  const at = value.indexOf(':')
  return { kind: value.slice(0, at) as 'source', name: value.slice(at + 1) }
}
