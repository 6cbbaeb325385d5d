/** A draft that was found: when it was typed, whether another tab has it open, too, and a way to give it up. */
import { Button, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { moment } from '../lib/time.ts'
import { TAB, TABS } from '../lib/use-draft.ts'

/** @param at when it was typed, ms since the epoch */
export function DraftFound({ at, place, onDiscard }: { at: number; place: string; onDiscard: () => void }) {
  const [isElsewhere, setElsewhere] = useState(false)
  useEffect(() => {
    const tabs = new BroadcastChannel(TABS)
    tabs.onmessage = ({ data }) => {
      if (data === place) setElsewhere(true)
    }
    tabs.postMessage([place, TAB])
    return () => tabs.close()
  }, [place])
  return (
    <Group gap="xs" role="status">
      <Text size="sm">
        Draft from {moment(at, Date.now())} restored{isElsewhere && '; it is open in another tab, too'}.
      </Text>
      <Button size="compact-sm" variant="default" onClick={onDiscard}>
        Discard
      </Button>
    </Group>
  )
}
