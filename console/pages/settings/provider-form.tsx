/** A model provider, to add or to change. Its credential goes in and is never shown again. */
import {
  Alert,
  Button,
  Checkbox,
  Group,
  Modal,
  PasswordInput,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { countWords } from '../../../schemas/plain-words.ts'
import type { ModelProvider, ModelProvidersResult } from '../../../schemas/types.ts'
import { changedIn, keptAddress } from '../../lib/drafts.ts'
import { fieldErrors, marksOf } from '../../lib/field-errors.ts'
import {
  NEW_PROVIDER,
  type ProviderDraft,
  providerDraft,
  providerFault,
  providerWrite,
} from '../../lib/model-settings.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DialogFoot } from '../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { settings } from '../../settings-client.ts'

interface Props {
  /** Null makes one. */
  stored: ModelProvider | null
  kinds: ModelProvidersResult['kinds']
  onClose: () => void
}

type SetField = <K extends keyof ProviderDraft>(field: K, value: ProviderDraft[K]) => void

const ADDRESS_HINTS: Record<ModelProvider['kind'], string> = {
  providera: 'Default: the provider’s own. Or a gateway that speaks its format',
  providerb: 'Default: the provider’s own. Or a proxy, with the version in its path',
  compatible: 'With the version in it, such as http://127.0.0.1:11434/v1.',
}

export function ProviderForm({ stored, kinds, onClose }: Props) {
  const before = stored ? providerDraft(stored) : NEW_PROVIDER
  const kept = useDraft({
    form: `provider:${stored?.id ?? 'new'}`,
    start: before,
    plain: (now) =>
      changedIn(
        { ...now, key: '', gateway_token: '', base_url: keptAddress(now.base_url, before.base_url) },
        before,
      ),
  })
  const { value: draft } = kept
  const set: SetField = (field, value) => kept.set((now) => ({ ...now, [field]: value }))
  const save = useChange(
    (_: undefined) => settings.saveProvider(stored?.id ?? 'new', providerWrite(draft, stored)),
    {
      said: ({ id, providers, discovery }) => {
        const name = providers.find((one) => one.id === id)?.name ?? id
        return discovery.error === null
          ? `${name} is saved; it lists ${countWords(discovery.models.length, 'model')}`
          : `${name} is saved`
      },
      // A provider that lists no models is saved all the same: why is said before the dialog goes.
      onDone: ({ discovery }) => {
        kept.done()
        if (discovery.error === null) onClose()
      },
      quiet: true,
    },
  )
  const [unlisted, fault] = [save.data?.discovery.error, providerFault(draft, stored)]
  return (
    <Modal opened onClose={onClose} title={stored ? `Edit ${stored.name}` : 'Add a model provider'} size="lg">
      {unlisted ? (
        <Unlisted why={unlisted} onClose={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (fault === null) save.mutate(undefined)
          }}
        >
          <Stack>
            <DraftRestored of={kept} />
            {!stored && (
              <Select
                label="Kind"
                data={kinds.map(({ id, label }) => ({ value: id, label }))}
                value={draft.kind}
                onChange={(kind) => set('kind', (kind ?? 'providera') as ProviderDraft['kind'])}
                allowDeselect={false}
                data-autofocus
              />
            )}
            <TextInput
              label="Name"
              {...marksOf(fieldErrors(save.error))('name')}
              description={draft.kind === 'compatible' ? 'The id is made from the name' : 'Default: the kind'}
              value={draft.name}
              onChange={(event) => set('name', event.currentTarget.value)}
              required={draft.kind === 'compatible'}
              maxLength={80}
            />
            <TextInput
              label="Address"
              {...marksOf(fieldErrors(save.error))('base_url')}
              description={ADDRESS_HINTS[draft.kind]}
              value={draft.base_url}
              placeholder={stored?.base_source.startsWith('env:') ? stored.base_url : ''}
              onChange={(event) => set('base_url', event.currentTarget.value)}
              required={draft.kind === 'compatible'}
              maxLength={2_000}
            />
            <Credentials stored={stored} draft={draft} set={set} />
            <Refusal title="Couldn’t save the provider" error={save.error} />
            <DialogFoot draft={kept} onClose={onClose} word="Save" isSending={save.isPending}>
              {fault && (
                <Text size="sm" c="dimmed">
                  {fault}
                </Text>
              )}
            </DialogFoot>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

/** It is saved, and could not be asked for its models. */
function Unlisted({ why, onClose }: { why: string; onClose: () => void }) {
  return (
    <Stack>
      <Alert color="yellow" title="Saved, but no models were listed" role="status">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {why}
        </Text>
      </Alert>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}

/** What goes in and is never shown again. */
function Credentials({
  stored,
  draft,
  set,
}: {
  stored: ModelProvider | null
  draft: ProviderDraft
  set: SetField
}) {
  return (
    <>
      <PasswordInput
        label="Key"
        description={
          stored?.stored
            ? 'Never shown again. Leave empty to keep.'
            : draft.kind === 'compatible'
              ? 'Optional. Never shown again'
              : 'Never shown again.'
        }
        value={draft.key}
        onChange={(event) => set('key', event.currentTarget.value)}
        required={draft.kind !== 'compatible' && !stored && draft.gateway_token.trim() === ''}
        withAsterisk={false}
        autoComplete="off"
      />
      {stored?.stored && (
        <Checkbox
          label="Forget the stored key"
          checked={draft.key_clear}
          onChange={(event) => set('key_clear', event.currentTarget.checked)}
        />
      )}
      {draft.kind === 'providera' && (
        <PasswordInput
          label="Token of a gateway"
          description={
            stored?.gateway_token_stored
              ? 'Stored, and wins over the key. Leave empty to keep.'
              : 'Optional. Used instead of the key'
          }
          value={draft.gateway_token}
          onChange={(event) => set('gateway_token', event.currentTarget.value)}
          autoComplete="off"
        />
      )}
      {stored?.gateway_token_stored && (
        <Checkbox
          label="Forget the stored token"
          checked={draft.gateway_token_clear}
          onChange={(event) => set('gateway_token_clear', event.currentTarget.checked)}
        />
      )}
    </>
  )
}
