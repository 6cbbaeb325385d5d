/** Says that what was typed here before is back, and gives it up. */
import { Button, Group, Text } from '@mantine/core'
import { moment } from '../lib/time.ts'
import type { DraftOf } from '../lib/use-draft.ts'

/** Nothing where no draft was found. */
export function DraftRestored({
  of: { restored, discard },
}: {
  of: Pick<DraftOf<unknown>, 'restored' | 'discard'>
}) {
  if (restored === null) return null
  return (
    <Group gap="xs" role="status">
      <Text size="sm">Draft from {moment(restored, Date.now())} restored.</Text>
      <Button size="compact-sm" variant="default" onClick={discard}>
        Discard
      </Button>
    </Group>
  )
}
