/** The panel beside the drawing. */
import { CloseButton, Skeleton } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

interface Props {
  label: string
  /** More room than a form has, for what is read across. */
  isWide: boolean
  /** Whether it takes the focus when it opens, and gives it back when it closes. */
  takesFocus: boolean
  /** Where the focus was before the panel was loaded. */
  cameFrom: CameFrom
  onClose: () => void
  children: ReactNode
}

/** What had the focus before `PanelLoading` took it. */
export type CameFrom = RefObject<Element | null>

export function SidePanel({ label, isWide, takesFocus, cameFrom, onClose, children }: Props) {
  const root = useRef<HTMLElement>(null)
  // In the same moment in which what was loading goes, or the focus is brought to what is nearest to that.
  useLayoutEffect(() => {
    if (!takesFocus) return
    const now = document.activeElement
    const before = now === document.body ? cameFrom.current : now
    if (!root.current?.contains(now)) root.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [takesFocus, cameFrom])
  return (
    <section aria-label={label} className="editor-panel" data-wide={isWide} ref={root} tabIndex={-1}>
      <CloseButton className="editor-panel-close" aria-label="Close panel" onClick={onClose} />
      {children}
    </section>
  )
}

/** In place of a panel that is loaded: it has the focus meanwhile, so that Escape closes it already. */
export function PanelLoading({ takesFocus, cameFrom }: Pick<Props, 'takesFocus' | 'cameFrom'>) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!takesFocus) return
    cameFrom.current = document.activeElement
    box.current?.focus()
  }, [takesFocus, cameFrom])
  return (
    <div ref={box} tabIndex={-1} role="status" aria-label="Loading">
      <Skeleton w={360} h="100%" />
    </div>
  )
}
