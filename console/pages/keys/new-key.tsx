/** Makes a key and shows its secret once. */
import { Alert, Button, Checkbox, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { KeyCreate } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { useChoices } from '../../parts/choices.tsx'
import { CopyBlock } from '../../parts/copy.tsx'
import { DialogFoot } from '../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'

type Scope = 'read' | 'ingest' | 'respond' | 'admin'

const SCOPES: { value: Scope; label: string; description: string }[] = [
  {
    value: 'read',
    label: 'read',
    description: 'Timelines, sources, labels: what an agent or a dashboard needs.',
  },
  {
    value: 'ingest',
    label: 'ingest',
    description: 'Sending events and recording memories: what a producer needs.',
  },
  {
    value: 'respond',
    label: 'respond',
    description: 'Acting on incidents: acknowledge, assign, snooze, handle. Add read to see them.',
  },
  { value: 'admin', label: 'admin', description: 'Every change, keys included; implies the others.' },
]

const NEW: { name: string; scopes: Scope[]; source: string | null } = {
  name: '',
  scopes: ['read'],
  source: null,
}

export function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const queries = useQueryClient()
  const kept = useDraft({ form: 'api-key', start: NEW })
  const { name, scopes, source } = kept.value
  const set = (some: Partial<typeof NEW>) => kept.set((now) => ({ ...now, ...some }))
  const sources = useChoices('sources', { queryKey: keys.sources, queryFn: api.sources })
  const create = useMutation({
    mutationFn: () =>
      api.createKey({
        name: name.trim(),
        scopes,
        ...(source && isIngestOnly(scopes) ? { source } : {}),
      } as KeyCreate),
    onSuccess: () => {
      kept.fill(NEW)
      return queries.invalidateQueries({ queryKey: keys.apiKeys })
    },
  })
  // What is typed stays for when the dialog is opened again; what is shown once is not gone by a click beside it.
  const close = (): void => {
    onClose()
    create.reset()
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={create.data ? `${create.data.name} is ready` : 'New API key'}
      closeOnClickOutside={!create.data}
      centered
      size="lg"
    >
      {create.data ? (
        <KeyOnce secret={create.data.secret} onDone={close} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            create.mutate()
          }}
        >
          <Stack>
            <DraftRestored of={kept} />
            <TextInput
              label="Name"
              placeholder="gateway producer"
              value={name}
              onChange={(event) => set({ name: event.currentTarget.value })}
              required
              maxLength={64}
              data-autofocus
            />
            <Checkbox.Group
              label="Scopes"
              value={scopes}
              onChange={(value) => set({ scopes: value as Scope[] })}
            >
              <Stack gap="xs" mt={6}>
                {SCOPES.map((scope) => (
                  <Checkbox
                    key={scope.value}
                    value={scope.value}
                    label={scope.label}
                    description={scope.description}
                  />
                ))}
              </Stack>
            </Checkbox.Group>
            {isIngestOnly(scopes) && (
              <Select
                label="Only for the source"
                description="The key then writes nowhere else."
                placeholder="Any source"
                data={(sources.data ?? []).filter((s) => s.mode === 'push').map((s) => s.name)}
                value={source}
                onChange={(value) => set({ source: value })}
                clearable
                {...sources.field}
              />
            )}
            {create.error && (
              <Alert color="red" role="alert">
                {create.error.message}
              </Alert>
            )}
            <DialogFoot
              draft={kept}
              onClose={close}
              word="Create key"
              isSending={create.isPending}
              isDisabled={scopes.length === 0}
            />
          </Stack>
        </form>
      )}
    </Modal>
  )
}

function KeyOnce({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <Stack>
      <Alert color="yellow" title="Shown this once">
        Copy it now; only its first characters are kept.
      </Alert>
      <CopyBlock value={secret} label="Copy the key" />
      <Text size="sm" fw={600}>
        Try it
      </Text>
      <CopyBlock
        value={`curl ${window.location.origin}/api/whoami -H 'Authorization: Bearer ${secret}'`}
        label="Copy the command"
      />
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  )
}

const isIngestOnly = (scopes: readonly Scope[]): boolean => scopes.length === 1 && scopes[0] === 'ingest'
