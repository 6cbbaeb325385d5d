/** Copying and pasting of what is selected, by buttons and by keys. */
import { Button, Group } from '@mantine/core'
import { ClipboardPaste, Copy, Unplug } from 'lucide-react'
import { useState } from 'react'
import { notifications } from '../../lib/notices.ts'
import { type Copied, readCopied } from '../draft/clipboard.ts'
import { type Actions, lastCopiedText } from './state/use-actions.ts'

export function SelectionButtons({
  actions,
  selected,
  pasting,
}: {
  actions: Actions
  selected: readonly string[]
  pasting: Pick<ReturnType<typeof usePasting>, 'read' | 'duplicate'>
}) {
  const act = (label: string, Icon: typeof Copy, onClick: () => void, disabled = selected.length === 0) => (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<Icon size={13} aria-hidden />}
      disabled={disabled}
      onClick={onClick}
    >
      {label}
    </Button>
  )
  return (
    <Group gap={4}>
      {act('Copy selected', Copy, () => void actions.copy(selected))}
      {act('Paste', ClipboardPaste, pasting.read, false)}
      {act('Duplicate selected', Copy, () => pasting.duplicate(selected))}
      {act('Take out selected', Unplug, () => void actions.remove(selected))}
    </Group>
  )
}

/** Pasting does nothing then. */
export const sayNoParts = (): void =>
  notifications.show({ message: 'No parts are on the clipboard: copy some in a project first.' })

/** Pasting: at once within a project, and between projects after one has said how. */
export function usePasting(actions: Actions, project: string, onPasted: (ids: string[]) => void) {
  const [found, setFound] = useState<Copied | null>(null)
  const run = async (copied: Copied, how: 'share' | 'copy') => onPasted(await actions.paste(copied, how))
  const begin = (copied: Copied) => {
    if (copied.project === project) void run(copied, 'copy')
    else setFound(copied)
  }
  return {
    found,
    begin,
    /** Copies of parts, without the clipboard. */
    duplicate: (ids: readonly string[]) => {
      const selection = actions.selection(ids)
      if (selection) void run(selection, 'copy')
    },
    cancel: () => setFound(null),
    paste: (how: 'share' | 'copy') => {
      if (found) void run(found, how)
      setFound(null)
    },
    /** From the clipboard, or what was last copied here where it may not be read. */
    read: () => {
      const read = navigator.clipboard?.readText?.() ?? Promise.resolve('')
      void read
        .catch(() => '')
        .then((text) => readCopied(text) ?? readCopied(lastCopiedText()))
        .then((copied) => (copied ? begin(copied) : sayNoParts()))
    },
  }
}
