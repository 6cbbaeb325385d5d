/** A project of parts that are there: they are adopted, nothing is made. */
import { Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate } from 'react-router'
import { api } from '../../client.ts'
import { declared } from '../../declared-client.ts'
import { fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { useChoices } from '../../parts/choices.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'

/** All parts there are. */
const allParts = async () => {
  const [sources, triggers, agents, servers] = await Promise.all([
    api.sources(),
    declared.triggers(),
    declared.agents(),
    declared.mcpServers(),
  ])
  return { sources, triggers, agents: agents.agents, servers }
}

/** Parts that can be picked, as kind:name, those of a project left out. */
/** @param isNeeded some are picked, and shown by their names */
function useFreeParts(isNeeded: boolean) {
  const { data, field } = useChoices(
    'parts',
    { queryKey: ['declared', 'parts'], queryFn: allParts },
    isNeeded,
  )
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
  const free = [
    group('Sources', 'source', data?.sources),
    group('Triggers', 'trigger', data?.triggers),
    group('Agents', 'agent', data?.agents),
    group('MCP servers', 'mcp_server', data?.servers),
  ]
  return { free, field }
}

export function CustomProject() {
  const go = useNavigate()
  const kept = useDraft({ form: 'project', start: { name: '', goal: '', picked: [] as string[] } })
  const { name, goal, picked } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const { free, field } = useFreeParts(picked.length > 0)
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
          data={free}
          value={picked}
          onChange={(parts) => set({ picked: parts })}
          searchable
          clearable
          nothingFoundMessage="No unused part has that name"
          {...field}
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
