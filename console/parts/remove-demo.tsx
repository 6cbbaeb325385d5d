/** Asks before the demo goes: its events, incidents and findings do not come back. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'

interface Props {
  isBusy: boolean
  onRemove: () => void
  onClose: () => void
}

export function RemoveDemo({ isBusy, onRemove, onClose }: Props) {
  return (
    <Modal opened onClose={onClose} title="Remove the demo?" centered>
      <Stack>
        <Text size="sm">
          The sources, triggers and agents of the demo go, with all their events, incidents, runs and
          findings, and the notes on them. Your own data stays. The demo can be loaded again, from its
          beginning.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={isBusy} onClick={onRemove}>
            Remove
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
