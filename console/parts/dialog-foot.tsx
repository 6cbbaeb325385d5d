/** The foot of a dialog with a form: what leaves it, and what sends it. */
import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import type { DraftOf } from '../lib/use-draft.ts'

interface Props {
  /** Cancel gives it up; absent: what is typed stays for the next time. */
  draft?: Pick<DraftOf<unknown>, 'discard'>
  onClose: () => void
  cancel?: string
  /** What the form does. */
  word: string
  isSending: boolean
  isDisabled?: boolean
  color?: string
  /** Before the buttons: why it cannot be sent. */
  children?: ReactNode
}

/** Below the fields, within the form that it submits. */
export function DialogFoot({ draft, onClose, cancel = 'Cancel', word, isSending, ...rest }: Props) {
  const leave = (): void => {
    draft?.discard()
    onClose()
  }
  return (
    <Group justify="flex-end">
      {rest.children}
      <Button variant="default" onClick={leave}>
        {cancel}
      </Button>
      <Button
        type="submit"
        loading={isSending}
        disabled={rest.isDisabled ?? false}
        {...(rest.color ? { color: rest.color } : {})}
      >
        {word}
      </Button>
    </Group>
  )
}
