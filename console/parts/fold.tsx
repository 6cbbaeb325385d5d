/** A text that is long: its heading, and the whole of it on demand, with a button that copies it. */
import { Group, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { CopyIcon } from './copy.tsx'

interface Props {
  /** What it is, such as "What it was told". */
  title: string
  /** Its size or its beginning, said beside the title. */
  hint?: string
  children?: ReactNode
  isOpen?: boolean
  /** Something in it is wrong: it is opened. */
  isFaulty?: boolean
}

export function Fold({ title, hint, children, isOpen = false, isFaulty = false }: Props) {
  const [open, setOpen] = useState(isOpen)
  useEffect(() => {
    if (isFaulty) setOpen(true)
  }, [isFaulty])
  return (
    <details className="fold" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="fold-title">{title}</span>
        {hint && (
          <Text span size="sm" c="dimmed">
            {' '}
            {hint}
          </Text>
        )}
      </summary>
      {open && children}
    </details>
  )
}

/** The same with a text as it is. */
export function FoldedText({
  title,
  hint,
  text,
  isOpen,
}: Omit<Props, 'children' | 'isFaulty'> & { text: string }) {
  return (
    <Fold title={title} {...(hint ? { hint } : {})} {...(isOpen ? { isOpen } : {})}>
      <TextBlock text={text} label={`Copy: ${title}`} />
    </Fold>
  )
}

export function TextBlock({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must take the keyboard.
    <section className="payload mono text-block" aria-label={label.replace(/^Copy: /, '')} tabIndex={0}>
      <Group justify="flex-end" className="text-block-copy">
        <CopyIcon value={text} label={label} />
      </Group>
      <pre>{text || '(empty)'}</pre>
    </section>
  )
}
