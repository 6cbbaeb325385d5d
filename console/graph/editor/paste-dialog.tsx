/** Asks how parts of another project are pasted: the same parts, shared, or copies of them. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import type { Copied } from '../draft/clipboard.ts'

interface Props {
  found: Copied | null
  onClose: () => void
  onPaste: (how: 'share' | 'copy') => void
}

export function PasteDialog({ found, onClose, onPaste }: Props) {
  const count = found?.parts.length ?? 0
  return (
    <Modal
      opened={found !== null}
      onClose={onClose}
      title={count === 1 ? 'Paste one part' : `Paste ${count} parts`}
      centered
    >
      <Stack>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          From another project: {found?.parts.map(({ name }) => name).join(', ')}.
        </Text>
        <Text size="sm">
          Shared, both projects use the same parts, and a change of one reaches both. Copies have names of
          their own.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => onPaste('copy')}>
            Make copies
          </Button>
          <Button onClick={() => onPaste('share')} data-autofocus>
            Share them
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
