/** Asks before a part goes, and says what would be left hanging. */
import { Button, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { declared } from '../declared-client.ts'
import { KIND_WORDS } from '../lib/fields.ts'
import { useChange } from '../lib/use-change.ts'
import { Acts } from './may.tsx'

interface Props {
  kind: 'trigger' | 'agent' | 'mcp_server'
  name: string
  remove: (name: string) => Promise<unknown>
  onDone: () => void
}

const LEFT: Record<Props['kind'], string> = {
  trigger: 'Nothing wakes these agents any more; they stay:',
  agent: 'These agents no longer hand over to it:',
  mcp_server: 'These agents no longer have its tools:',
}

export function DeletePart({ kind, name, remove, onDone }: Props) {
  const [asking, setAsking] = useState(false)
  const word = KIND_WORDS[kind]!.one
  const { data } = useQuery({
    queryKey: ['dependents', kind, name],
    queryFn: () => declared.dependents(kind, name),
    enabled: asking,
    staleTime: 0,
  })
  const change = useChange(() => remove(name), {
    failed: `Couldn’t delete ${name}`,
    said: () => `${name} is deleted; undo it under Changes`,
    onDone,
  })
  return (
    <>
      <Acts>
        <Button variant="light" color="red" onClick={() => setAsking(true)}>
          Delete…
        </Button>
      </Acts>
      <Modal opened={asking} onClose={() => setAsking(false)} title={`Delete ${word} ${name}?`} centered>
        <Stack>
          {data && data.dependents.length > 0 ? (
            <div>
              <Text size="sm">{LEFT[kind]}</Text>
              <List size="sm">
                {data.dependents.map((part) => (
                  <List.Item key={part.name}>{part.name}</List.Item>
                ))}
              </List>
            </div>
          ) : (
            <Text size="sm">Nothing else depends on it. Deleting removes it from every project.</Text>
          )}
          {kind === 'trigger' && <Text size="sm">Its open incidents end.</Text>}
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button color="red" loading={change.isPending} onClick={() => change.mutate(undefined)}>
              Delete
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
