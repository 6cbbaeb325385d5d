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
  onPaste,
}: {
  actions: Actions
  selected: readonly string[]
  onPaste: () => void
}) {
  const none = selected.length === 0
  return (
    <Group gap={4}>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Copy size={13} aria-hidden />}
        disabled={none}
        onClick={() => void actions.copy(selected)}
      >
        Copy selected
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<ClipboardPaste size={13} aria-hidden />}
        onClick={onPaste}
      >
        Paste
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Unplug size={13} aria-hidden />}
        disabled={none}
        onClick={() => void actions.remove(selected)}
      >
        Take out selected
      </Button>
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
