/** The button at the end of a list that goes further back. */
import { Button, Group } from '@mantine/core'
import type { Pages } from './use-pages.ts'

export function Older({ list, label }: { list: Pages<unknown>; label: string }) {
  if (!list.older) return null
  return (
    <Group>
      <Button variant="default" loading={list.isLoadingOlder} onClick={list.older}>
        {label}
      </Button>
    </Group>
  )
}
