/** A credential, to add or to rotate. Its token goes in and is never shown again. */
import { Alert, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { StoredCredential } from '../../../../schemas/types.ts'
import { credentials } from '../../../credentials-client.ts'
import { addressDraft } from '../../../lib/credentials.ts'
import { fieldErrors, marksOf } from '../../../lib/field-errors.ts'
import { useChange } from '../../../lib/use-change.ts'
import { Refusal } from '../../../parts/refusal.tsx'

interface Props {
  /** Null adds one. */
  stored: StoredCredential | null
  onClose: () => void
}

export function CredentialForm({ stored, onClose }: Props) {
  const [name, setName] = useState(stored?.name ?? '')
  const [token, setToken] = useState('')
  const [address, setAddress] = useState(stored ? addressDraft(stored.api_url) : '')
  const save = useChange(
    (_: undefined) => {
      const body = { token: token.trim(), api_url: address.trim() }
      return stored
        ? credentials.update(stored.name, body)
        : credentials.create({ name: name.trim(), ...body })
    },
    {
      said: ({ account, warning }) =>
        warning === undefined ? `The token${account === null ? '' : ` of ${account}`} is stored` : '',
      // One that GitHub refuses is stored all the same: why is said before the dialog goes.
      onDone: ({ warning }) => warning === undefined && onClose(),
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
            save.mutate(undefined)
          }}
        >
          <Stack>
            {!stored && (
              <TextInput
                label="Name"
                {...marksOf(fieldErrors(save.error))('name')}
                description="Sources and MCP servers name it, such as main."
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
                required
                maxLength={64}
                data-autofocus
              />
            )}
            <PasswordInput
              label="Token"
              {...marksOf(fieldErrors(save.error))('token')}
              description="Needs read access to contents and pull requests. Never shown again."
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
              required
              autoComplete="off"
              {...(stored ? { 'data-autofocus': true } : {})}
            />
            <TextInput
              label="API address"
              {...marksOf(fieldErrors(save.error))('api_url')}
              description="Default: GitHub. For GitHub Enterprise: https://HOST/api/v3"
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value)}
              maxLength={2_000}
            />
            <Refusal title="Couldn’t save the credential" error={save.error} />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button
                type="submit"
                loading={save.isPending}
                disabled={token.trim() === '' || name.trim() === ''}
              >
                {stored ? 'Rotate' : 'Add credential'}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  )
}

/** It is stored, and GitHub does not take it. */
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
          Enter another token
        </Button>
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  )
}
