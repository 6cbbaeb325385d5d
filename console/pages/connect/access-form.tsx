/** What the client may do: makes it a key of its own. */
import { Alert, Button, Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { KeyCreate, KeyCreated } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { useChoices } from '../../parts/choices.tsx'

type May = 'read' | 'project' | 'work' | 'admin'

const CHOICES: { value: May; label: string; description: string; scopes: KeyCreate['scopes'] }[] = [
  {
    value: 'read',
    label: 'Read',
    description: 'Timelines, projects, findings, skills; propose changes for you to approve.',
    scopes: ['read'],
  },
  {
    value: 'project',
    label: 'Work in one project',
    description: 'Read that project and record findings in it, under the name of the key.',
    scopes: ['read', 'findings'],
  },
  {
    value: 'work',
    label: 'Read and remember',
    description: 'And send events and memories to timelines.',
    scopes: ['read', 'ingest'],
  },
  {
    value: 'admin',
    label: 'Everything',
    description: 'Create sources, change what is declared, create keys.',
    scopes: ['admin'],
  },
]

export function AccessForm({
  proposedName,
  onMade,
}: {
  /** Name of the key unless the person gives another. */
  proposedName: string
  onMade: (key: KeyCreated) => void
}) {
  const queries = useQueryClient()
  const [may, setMay] = useState<May>('read')
  const [given, setGiven] = useState<string | null>(null)
  const [project, setProject] = useState<string | null>(null)
  const projects = useChoices('projects', { queryKey: dkeys.projects, queryFn: declared.projects })
  const name = given ?? proposedName
  const { scopes } = CHOICES.find(({ value }) => value === may)!
  const create = useMutation({
    mutationFn: () =>
      api.createKey({
        name: name.trim(),
        scopes,
        ...(may === 'project' && project ? { project } : {}),
      } as KeyCreate),
    onSuccess: (key) => {
      onMade(key)
      return queries.invalidateQueries({ queryKey: keys.apiKeys })
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate()
      }}
    >
      <Stack>
        <Radio.Group label="What it may do" value={may} onChange={(value) => setMay(value as May)}>
          <Stack gap="xs" mt={6}>
            {CHOICES.map(({ value, label, description }) => (
              <Radio key={value} value={value} label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
        {may === 'project' && (
          <Select
            label="Project"
            required
            data={(projects.data ?? []).map(({ id, name: label }) => ({ value: id, label }))}
            value={project}
            onChange={setProject}
            allowDeselect={false}
            {...projects.field}
          />
        )}
        {may === 'admin' && (
          <Alert color="yellow" title="An agent with this key may change and delete everything">
            Text of events reaches the agent too, and may try to steer it. Give it to an agent only where a
            person confirms each call; reading and proposing is enough for most.
          </Alert>
        )}
        <TextInput
          label="Name of the key"
          description="Findings carry it."
          value={name}
          onChange={(event) => setGiven(event.currentTarget.value)}
          maxLength={64}
          required
        />
        {create.error && (
          <Alert color="red" role="alert" title="Couldn’t create the key">
            <Text size="sm">{create.error.message}</Text>
          </Alert>
        )}
        <Group>
          <Button type="submit" loading={create.isPending}>
            Create the key
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
