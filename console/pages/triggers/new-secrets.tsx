/** After a trigger is saved: secrets of the addresses that were subscribed with it, shown this once. */
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { PartWritten } from '../../../schemas/types.ts'
import { CopyBlock } from '../../parts/copy.tsx'

export interface NewSecret {
  /** As it was typed. */
  address: string
  secret: string
}

/** Of the addresses that were subscribed, in the order in which they were given; one that was before has none. */
export const secretsIn = ({ subscriptions = [] }: PartWritten, addresses: readonly string[]): NewSecret[] =>
  subscriptions.flatMap(({ secret }, i) =>
    secret === undefined ? [] : [{ address: addresses[i] ?? '', secret }],
  )

export function SecretsDialog({
  trigger,
  secrets,
  onClose,
}: {
  trigger: string
  secrets: readonly NewSecret[]
  onClose: () => void
}) {
  return (
    <Modal opened onClose={onClose} title={`${trigger} is saved`} centered size="lg">
      <Stack>
        <Alert color="yellow" title="Shown this once">
          Posts are signed with these secrets. Copy them now.
        </Alert>
        {secrets.map(({ address, secret }) => (
          <div key={address}>
            <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {address}
            </Text>
            <CopyBlock value={secret} label={`Copy the secret of ${address}`} />
          </div>
        ))}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
