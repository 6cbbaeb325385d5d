/**
 * What a button means, beside it while the pointer or the focus is on it (ARIA: tooltip). The component kit's own brings
 * 6 kB of every first load along for what needs neither arrows nor groups.
 */
import { Portal } from '@mantine/core'
import {
  cloneElement,
  type FocusEvent,
  type MouseEvent,
  type ReactElement,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'

const GAP = 5
const EDGE = 8

interface Props {
  label: string
  /** In several lines, so many pixels wide at most. */
  maw?: number
  /** Takes the handlers of a pointer and of the focus. */
  children: ReactElement<Record<string, unknown>>
}

/** @param props the element, and what is said of it */
export function Tooltip({ label, maw, children }: Props) {
  const [of, setOf] = useState<Element | null>(null)
  const id = useId()
  const hide = useCallback(() => setOf(null), [])
  const shown = {
    'aria-describedby': of ? id : children.props['aria-describedby'],
    onMouseEnter: (event: MouseEvent) => setOf(event.currentTarget),
    onMouseLeave: hide,
    onFocus: (event: FocusEvent) => event.target.matches(':focus-visible') && setOf(event.currentTarget),
    onBlur: hide,
  }
  return (
    <>
      {cloneElement(children, shown)}
      {of && <Label id={id} of={of} label={label} maw={maw} onHide={hide} />}
    </>
  )
}

interface LabelProps {
  id: string
  of: Element
  label: string
  maw: number | undefined
  onHide: () => void
}

function Label({ id, of, label, maw, onHide }: LabelProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // WCAG 2.1, 1.4.13; what else Escape closes is closed, too.
    const press = ({ key }: KeyboardEvent) => key === 'Escape' && onHide()
    // As the focus comes, its element is scrolled to.
    const follow = () => place(box.current, of)
    document.addEventListener('keydown', press)
    document.addEventListener('scroll', follow, true)
    return () => {
      document.removeEventListener('keydown', press)
      document.removeEventListener('scroll', follow, true)
    }
  }, [of, onHide])
  return (
    <Portal>
      {/* Placed anew with each text, which has another size. */}
      <div
        ref={(shown) => {
          box.current = shown
          place(shown, of)
        }}
        id={id}
        role="tooltip"
        className="tooltip"
        style={{ maxWidth: maw }}
      >
        {label}
      </div>
    </Portal>
  )
}

/** Above its element, below where there is no room. */
function place(shown: HTMLElement | null, of: Element): void {
  if (!shown) return
  const at = of.getBoundingClientRect()
  const { width, height } = shown.getBoundingClientRect()
  const left = Math.min(at.left + (at.width - width) / 2, document.documentElement.clientWidth - width - EDGE)
  shown.style.left = `${Math.max(EDGE, left)}px`
  shown.style.top = `${at.top > height + GAP ? at.top - height - GAP : at.bottom + GAP}px`
}
