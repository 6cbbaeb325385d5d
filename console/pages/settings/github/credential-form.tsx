/** A credential, to add or to rotate. What is secret of it goes in and is never shown again. */
import {
  Alert,
  Anchor,
  Button,
  Group,
  List,
  Modal,
  PasswordInput,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { CredentialUpdate, StoredCredential } from '../../../../schemas/types.ts'
import { credentials } from '../../../credentials-client.ts'
import { addressDraft, installationIn } from '../../../lib/credentials.ts'
import { changedIn, keptAddress } from '../../../lib/drafts.ts'
import { fieldErrors, marksOf } from '../../../lib/field-errors.ts'
import { useChange } from '../../../lib/use-change.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { DialogFoot } from '../../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import { Refusal } from '../../../parts/refusal.tsx'

interface Props {
  /** Null adds one. */
  stored: StoredCredential | null
  onClose: () => void
}

export function CredentialForm({ stored, onClose }: Props) {
  const before = filledFrom(stored)
  const kept = useDraft({
    form: `credential:${stored?.name ?? ''}`,
    start: before,
    // Not what is secret.
    plain: (now) =>
      changedIn({ ...now, token: '', key: '', address: keptAddress(now.address, before.address) }, before),
  })
  const { name, address, ...secret } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const save = useChange(
    (_: undefined) => {
      const body = { ...secretOf(secret, stored !== null), api_url: address.trim() }
      return stored
        ? credentials.update(stored.name, body)
        : credentials.create({ name: name.trim(), ...body })
    },
    {
      said: ({ account, warning }) =>
        warning === undefined
          ? `The ${secret.kind === 'app' ? 'app' : 'token'}${account === null ? '' : ` of ${account}`} is stored`
          : '',
      // One that GitHub refuses is stored all the same: why is said before the dialog goes.
      onDone: ({ warning }) => {
        kept.done()
        if (warning === undefined) onClose()
      },
      quiet: true,
    },
  )
  const warning = save.data?.warning
  return (
    <Modal
      opened
      onClose={onClose}
      title={stored ? `Rotate ${stored.name}` : 'Add a GitHub credential'}
      size="lg"
    >
      {warning ? (
        <Warned warning={warning} onRetry={() => save.reset()} onDone={onClose} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (isFilled(secret, stored !== null)) save.mutate(undefined)
          }}
        >
          <Stack>
            <DraftRestored of={kept} />
            {!stored && (
              <TextInput
                label="Name"
                {...marksOf(fieldErrors(save.error))('name')}
                description="Sources and MCP servers name it, such as main."
                value={name}
                onChange={(event) => set({ name: event.currentTarget.value })}
                required
                maxLength={64}
                data-autofocus
              />
            )}
            <Secret draft={secret} set={set} isStored={stored !== null} error={save.error} />
            <TextInput
              label="API address"
              {...marksOf(fieldErrors(save.error))('api_url')}
              description="Default: GitHub. For GitHub Enterprise: https://HOST/api/v3"
              value={address}
              onChange={(event) => set({ address: event.currentTarget.value })}
              maxLength={2_000}
            />
            <Refusal title="Couldn’t save the credential" error={save.error} />
            <DialogFoot
              draft={kept}
              onClose={onClose}
              word={stored ? 'Rotate' : 'Add credential'}
              isSending={save.isPending}
            />
          </Stack>
        </form>
      )}
    </Modal>
  )
}

interface SecretDraft {
  kind: 'token' | 'app'
  token: string
  appId: string
  key: string
  /** Blank: all of them. */
  installation: string
}

const filledFrom = (stored: StoredCredential | null): SecretDraft & { name: string; address: string } => ({
  name: stored?.name ?? '',
  kind: stored?.kind ?? 'token',
  token: '',
  key: '',
  appId: stored?.app_id ?? '',
  installation: String(stored?.installation_id ?? ''),
  address: stored ? addressDraft(stored.api_url) : '',
})

/** As the API takes it: what is blank of a stored one stays. */
function secretOf(
  { kind, token, appId, key, installation }: SecretDraft,
  isStored: boolean,
): CredentialUpdate {
  if (kind === 'token') return { token: token.trim() }
  const installation_id = installationIn(installation) ?? null
  const given = { app_id: appId.trim(), private_key: key.trim(), installation_id }
  return isStored && given.private_key === '' ? { app_id: given.app_id, installation_id } : given
}

function isFilled({ kind, token, appId, key, installation }: SecretDraft, isStored: boolean): boolean {
  if (kind === 'token') return token.trim() !== ''
  const hasKey = isStored || key.trim() !== ''
  return appId.trim() !== '' && hasKey && installationIn(installation) !== undefined
}

interface SecretProps {
  draft: SecretDraft
  set: (draft: SecretDraft) => void
  isStored: boolean
  error: Error | null
}

/** A token, or an app by its key; of what is stored the kind stays. */
function Secret({ draft, set, isStored, error }: SecretProps) {
  const mark = marksOf(fieldErrors(error))
  return (
    <>
      {!isStored && (
        <SegmentedControl
          aria-label="Kind"
          data={[
            { value: 'token', label: 'Token' },
            { value: 'app', label: 'GitHub App' },
          ]}
          value={draft.kind}
          onChange={(kind) => set({ ...draft, kind: kind === 'app' ? 'app' : 'token' })}
        />
      )}
      {draft.kind === 'token' ? (
        <PasswordInput
          label="Token"
          {...mark('token')}
          description="Needs read access to contents and pull requests. Never shown again."
          value={draft.token}
          onChange={(event) => set({ ...draft, token: event.currentTarget.value })}
          required
          autoComplete="off"
          {...(isStored ? { 'data-autofocus': true } : {})}
        />
      ) : (
        <>
          {!isStored && <HowToMakeOne />}
          <TextInput
            label="App id"
            {...mark('app_id')}
            description="On the settings page of the app, under General."
            value={draft.appId}
            onChange={(event) => set({ ...draft, appId: event.currentTarget.value })}
            required
            maxLength={64}
          />
          <Textarea
            label="Private key"
            {...mark('private_key')}
            description={`The PEM file that GitHub gave. Never shown again.${isStored ? ' Leave empty to keep the stored one.' : ''}`}
            placeholder="-----BEGIN RSA PRIVATE KEY-----"
            value={draft.key}
            onChange={(event) => set({ ...draft, key: event.currentTarget.value })}
            required={!isStored}
            autosize
            minRows={3}
            maxRows={8}
            autoComplete="off"
            spellCheck={false}
          />
          <TextInput
            label="Installation"
            description="The number at the end of its GitHub address. Empty: all installations."
            value={draft.installation}
            onChange={(event) => set({ ...draft, installation: event.currentTarget.value })}
            {...(installationIn(draft.installation) === undefined
              ? { error: 'An installation is a number' }
              : mark('installation_id'))}
            inputMode="numeric"
          />
        </>
      )}
    </>
  )
}

function HowToMakeOne() {
  return (
    <List size="sm" type="ordered">
      <List.Item>
        On{' '}
        <Anchor
          href="https://github.com/settings/apps/new"
          target="_blank"
          rel="noreferrer"
          size="sm"
          underline="always"
        >
          GitHub
        </Anchor>{' '}
        make an app that may read contents and pull requests; where agents write, checks, issues and pull
        requests to write.
      </List.Item>
      <List.Item>Generate a private key there, and install the app for your repositories.</List.Item>
      <List.Item>Store both here. For its events add a source of the kind GitHub App.</List.Item>
    </List>
  )
}

/** It is stored, and GitHub rejects it. */
function Warned({ warning, onRetry, onDone }: { warning: string; onRetry: () => void; onDone: () => void }) {
  return (
    <Stack>
      <Alert color="yellow" title="Stored, but not working yet" role="status">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {warning}
        </Text>
      </Alert>
      <Group justify="flex-end">
        <Button variant="default" onClick={onRetry}>
          Enter another
        </Button>
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  )
}
