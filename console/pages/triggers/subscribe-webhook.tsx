/** Subscribes an address to a trigger, and shows its secret once. */
import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core'
import type { Subscription, SubscriptionCreated } from '../../../schemas/types.ts'
import { FORMATS } from '../../lib/subscriptions.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { VERIFY_SNIPPET } from '../../lib/verify.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { DialogFoot } from '../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { work } from '../../trigger-client.ts'

/** The form that is known by the address. */
const KNOWN = 'known'
const CHOICES = [
  { value: KNOWN, label: 'What the address takes' },
  ...Object.entries(FORMATS).map(([value, label]) => ({ value, label })),
]
const START = { url: '', name: '', format: KNOWN }

interface Props {
  trigger: string
  opened: boolean
  onClose: () => void
}

export function SubscribeWebhook({ trigger, opened, onClose }: Props) {
  const kept = useDraft({
    form: 'subscription',
    start: START,
    // The path of an address may be a secret.
    plain: (now) => ({ ...now, url: '' }),
  })
  // One that was kept by an older console has fewer fields.
  const { url, name, format } = { ...START, ...kept.value }
  const subscribe = useChange(
    () =>
      work.subscribe({
        ...{ trigger, url: url.trim() },
        ...(name.trim() ? { name: name.trim() } : {}),
        ...(format === KNOWN ? {} : { format: format as Subscription['format'] }),
      }),
    { quiet: true, onDone: () => kept.fill(START) },
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
        <Done made={subscribe.data} onClose={close} />
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
              description="Where each firing is posted: a program of yours, or a chat or pager."
              placeholder="https://example.com/hooks/firings"
              type="url"
              value={url}
              onChange={({ currentTarget }) => kept.set((now) => ({ ...now, url: currentTarget.value }))}
              required
              maxLength={2048}
              data-autofocus
            />
            <Select
              label="Posted as"
              description="Teams, Discord, Google Chat, PagerDuty, Slack and Mattermost are known by their addresses"
              data={CHOICES}
              value={format}
              onChange={(value) => kept.set((now) => ({ ...now, format: value! }))}
              allowDeselect={false}
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

/** What was made has no secret where the address was subscribed already, and in the form of a chat or a pager. */
function Done({ made: { secret, existing }, onClose }: { made: SubscriptionCreated; onClose: () => void }) {
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
        <Text size="sm">
          {existing
            ? 'This address was already subscribed; if its posts are signed, their secret was shown then.'
            : 'Each firing is posted as a message from now on. Such posts are not signed.'}
        </Text>
      )}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}
