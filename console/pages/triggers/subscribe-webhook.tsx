/** Subscribes an address to a trigger, and shows its secret once. */
import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { VERIFY_SNIPPET } from '../../lib/verify.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { DialogFoot } from '../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { work } from '../../trigger-client.ts'

interface Props {
  trigger: string
  opened: boolean
  onClose: () => void
}

export function SubscribeWebhook({ trigger, opened, onClose }: Props) {
  const kept = useDraft({
    form: 'subscription',
    start: { url: '', name: '' },
    // The path of an address may be a secret.
    plain: (now) => ({ ...now, url: '' }),
  })
  const { url, name } = kept.value
  const subscribe = useChange(
    () => work.subscribe({ trigger, url: url.trim(), ...(name.trim() ? { name: name.trim() } : {}) }),
    { quiet: true, onDone: () => kept.fill({ url: '', name: '' }) },
  )
  // What is typed stays for when the dialog is opened again.
  const close = (): void => {
    onClose()
    subscribe.reset()
  }
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={subscribe.data ? 'Subscribed' : `Subscribe an address to ${trigger}`}
      // What is shown once is not gone by a click beside it.
      closeOnClickOutside={!subscribe.data}
      centered
      size="lg"
    >
      {subscribe.data ? (
        <Done secret={subscribe.data.secret} onClose={close} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            subscribe.mutate(undefined)
          }}
        >
          <Stack>
            <DraftRestored of={kept} />
            <TextInput
              label="Address"
              description="Where each firing is posted as JSON, signed."
              placeholder="https://example.com/hooks/firings"
              type="url"
              value={url}
              onChange={({ currentTarget }) => kept.set((now) => ({ ...now, url: currentTarget.value }))}
              required
              maxLength={2048}
              data-autofocus
            />
            <TextInput
              label="Name"
              description="Shown in lists. Optional"
              value={name}
              onChange={({ currentTarget }) => kept.set((now) => ({ ...now, name: currentTarget.value }))}
              maxLength={80}
            />
            {subscribe.error && (
              <Alert color="red" role="alert">
                {subscribe.error.message}
              </Alert>
            )}
            <DialogFoot draft={kept} onClose={close} word="Subscribe" isSending={subscribe.isPending} />
          </Stack>
        </form>
      )}
    </Modal>
  )
}

/** @param secret absent: the address was subscribed already */
function Done({ secret, onClose }: { secret: string | undefined; onClose: () => void }) {
  return (
    <Stack>
      {secret ? (
        <>
          <Alert color="yellow" title="Shown this once">
            Posts are signed with this secret. Copy it now; it is not shown again.
          </Alert>
          <CopyBlock value={secret} label="Copy the secret" />
          <Text size="sm" fw={600}>
            Check that a post is genuine
          </Text>
          <Text size="sm" c="dimmed">
            Signatures follow Standard Webhooks, for which there are libraries. With Node alone, over the
            bytes as they came:
          </Text>
          <CopyBlock value={VERIFY_SNIPPET} label="Copy the code" />
        </>
      ) : (
        <Text size="sm">This address was already subscribed; its secret was shown then.</Text>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}
