/** The panel beside the drawing. */
import { CloseButton } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'

interface Props {
  label: string
  /** More room than a form has, for what is read across. */
  isWide: boolean
  /** Whether it takes the focus when it opens, and gives it back when it closes. */
  takesFocus: boolean
  onClose: () => void
  children: ReactNode
}

export function SidePanel({ label, isWide, takesFocus, onClose, children }: Props) {
  const root = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!takesFocus) return
    const before = document.activeElement
    if (!root.current?.contains(before)) root.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [takesFocus])
  return (
    <section aria-label={label} className="editor-panel" data-wide={isWide} ref={root} tabIndex={-1}>
      <CloseButton className="editor-panel-close" aria-label="Close panel" onClick={onClose} />
      {children}
    </section>
  )
}
