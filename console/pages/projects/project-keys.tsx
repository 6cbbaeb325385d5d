/** Keys of one project: each reads it and records findings in it, nothing else. */
import { Alert, Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Key, Project } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Acts } from '../../parts/may.tsx'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

export function ProjectKeys({ project }: { project: Project }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.of(project.id, 'keys'),
    queryFn: () => declared.projectKeys(project.id),
  })
  const [name, setName] = useState('')
  const [findings, setFindings] = useState(true)
  const create = useChange(
    () =>
      declared.createProjectKey(project.id, {
        name: name.trim(),
        scopes: findings ? ['read', 'findings'] : ['read'],
      }),
    { failed: 'Couldn’t create the key' },
  )
  const revoke = useChange((id: string) => api.revokeKey(id), {
    failed: 'Couldn’t revoke the key',
    said: (result) => result.note,
  })
  const active = data?.keys.filter((key) => key.state === 'active') ?? []
  return (
    <Stack maw={760}>
      <Text size="sm">
        An agent outside gets a key of its own: it reads this project and records findings in it, under the
        name of the key.
      </Text>
      {isPending && <LoadingRows />}
      {error && <Failed what="the keys" error={error} onRetry={() => void refetch()} />}
      {active.length > 0 && <ActiveKeys keys={active} onRevoke={(id) => revoke.mutate(id)} />}
      {create.data ? (
        <Alert color="yellow" title={`${create.data.name}: shown once`}>
          <Stack gap="xs">
            <CopyBlock value={create.data.secret} label="Copy the key" />
            <Group>
              <Button
                size="xs"
                onClick={() => {
                  create.reset()
                  setName('')
                }}
              >
                Done
              </Button>
            </Group>
          </Stack>
        </Alert>
      ) : (
        <Acts says>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              create.mutate(undefined)
            }}
          >
            <Group align="flex-end">
              <TextInput
                label="Name of a new key"
                description="Findings carry it."
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
                maxLength={64}
                required
              />
              <Checkbox
                mb={8}
                checked={findings}
                onChange={(event) => setFindings(event.currentTarget.checked)}
                label="May record findings"
              />
              <Button type="submit" loading={create.isPending}>
                Create key
              </Button>
            </Group>
          </form>
        </Acts>
      )}
    </Stack>
  )
}

function ActiveKeys({ keys, onRevoke }: { keys: readonly Key[]; onRevoke: (id: string) => void }) {
  return (
    <Rows
      label="Keys of this project"
      columns={[{ name: 'Name', isHead: true }, 'Scopes', 'Last used', { name: 'Revoke', isUnnamed: true }]}
    >
      {keys.map((key) => (
        <Row key={key.id}>
          <Cell>{key.name}</Cell>
          <Cell>{key.scopes.join(', ')}</Cell>
          <Cell>
            <When at={key.last_used_at} />
          </Cell>
          <Cell>
            <Button
              size="compact-sm"
              variant="light"
              color="red"
              onClick={() => onRevoke(key.id)}
              aria-label={`Revoke ${key.name}`}
            >
              Revoke
            </Button>
          </Cell>
        </Row>
      ))}
    </Rows>
  )
}
