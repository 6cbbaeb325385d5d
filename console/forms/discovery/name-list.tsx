/** Names to be ticked, one stop of the Tab key for all; only those in view are drawn. */
import { Checkbox } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type Ref, useId, useImperativeHandle, useRef, useState } from 'react'

interface Props {
  ref: Ref<HTMLElement>
  /** What the list is called. */
  title: string
  names: readonly string[]
  chosen: ReadonlySet<string>
  /** None more can be chosen. */
  isFull: boolean
  onToggle: (name: string) => void
}

const PAGE = 8

export function NameList({ ref, title, names, chosen, isFull, onToggle }: Props) {
  const box = useRef<HTMLDivElement>(null)
  useImperativeHandle(ref, () => box.current!)
  const id = useId()
  const [wanted, setActive] = useState(0)
  // Names leave the list while it shows only what is chosen.
  const active = Math.min(wanted, names.length - 1)
  const rows = useVirtualizer({
    count: names.length,
    getScrollElement: () => box.current,
    estimateSize: () => 34,
    overscan: 8,
    getItemKey: (i) => names[i]!,
  })
  const items = rows.getVirtualItems()
  const goTo = (i: number) => {
    const next = Math.max(0, Math.min(i, names.length - 1))
    setActive(next)
    rows.scrollToIndex(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const target = targetOf(event.key, active, names.length)
    const isTick = event.key === ' ' || event.key === 'Enter'
    if (target === null && !isTick) return
    event.preventDefault()
    if (target !== null) goTo(target)
    else onToggle(names[active]!)
  }
  return (
    <div
      ref={box}
      role="listbox"
      aria-label={title}
      aria-multiselectable
      aria-activedescendant={items.some(({ index }) => index === active) ? `${id}-${active}` : undefined}
      tabIndex={0}
      className="timeline pick-list"
      onKeyDown={onKeyDown}
      onFocus={() => rows.scrollToIndex(active)}
    >
      <div style={{ height: rows.getTotalSize(), position: 'relative' }}>
        {items.map(({ index, key, start }) => {
          const name = names[index]!
          const isChosen = chosen.has(name)
          const isOut = isFull && !isChosen
          return (
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus and names its active row.
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys.
            <div
              key={key}
              ref={rows.measureElement}
              id={`${id}-${index}`}
              role="option"
              aria-selected={isChosen}
              aria-disabled={isOut || undefined}
              aria-setsize={names.length}
              aria-posinset={index + 1}
              data-index={index}
              data-active={index === active}
              className="pick-row"
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => {
                setActive(index)
                onToggle(name)
              }}
            >
              <Checkbox.Indicator size="xs" checked={isChosen} disabled={isOut} aria-hidden />
              <span className="mono">{name}</span>
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** The row a key goes to; null for a key that goes nowhere. */
function targetOf(key: string, active: number, length: number): number | null {
  const targets: Record<string, number> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + PAGE,
    PageUp: active - PAGE,
    Home: 0,
    End: length - 1,
  }
  return targets[key] ?? null
}
