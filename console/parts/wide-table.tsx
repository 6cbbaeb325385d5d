/** A table of many columns: it scrolls where it is wider than its place; where there is little room each row is a card, its cells named. */
import { type CSSProperties, type ReactNode, useLayoutEffect, useRef, useState } from 'react'

interface Props {
  /** Pixels below which it scrolls, where its rows are no cards. */
  minWidth: number
  /** Pixels beyond which it scrolls downward; absent: it is as high as its rows. */
  maxHeight?: number
  children: ReactNode
}

export function WideTable({ minWidth, maxHeight, children }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [scrolls, setScrolls] = useState(false)
  useLayoutEffect(() => {
    const shown = box.current!
    const nameAll = (): void => {
      for (const table of shown.querySelectorAll('table')) nameCells(table)
    }
    const measure = (): void =>
      setScrolls(shown.scrollWidth > shown.clientWidth || shown.scrollHeight > shown.clientHeight)
    nameAll()
    measure()
    // Rows come, go and unfold by themselves: what they are called is looked up again.
    const drawn = new MutationObserver(nameAll)
    drawn.observe(shown, { childList: true, characterData: true, subtree: true })
    const sized = new ResizeObserver(measure)
    for (const one of [shown, ...shown.children]) sized.observe(one)
    return () => {
      drawn.disconnect()
      sized.disconnect()
    }
  }, [])
  return (
    <div
      className="wide-table"
      ref={box}
      // Where it scrolls it takes the keyboard, and else is no stop on the way through the page.
      tabIndex={scrolls ? 0 : undefined}
      style={{ '--least': `${minWidth}px`, ...(maxHeight ? { maxHeight } : {}) } as CSSProperties}
    >
      {children}
    </div>
  )
}

/** What a head says first: what stands in it beside its name, such as a badge, is not said again in each card. */
function nameOf(node: Element): string {
  const nodes = [...node.childNodes]
  const end = nodes.findIndex((one) => one instanceof Element)
  const text = (end === -1 ? nodes : nodes.slice(0, end)).map((one) => one.textContent).join('')
  return text.trim() || end === -1 ? text.trim() : nameOf(nodes[end] as Element)
}

/** Roles are said too: a phone's cards are drawn as blocks, which browsers take for no table. */
function nameCells(table: HTMLTableElement): void {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map(nameOf)
  table.setAttribute('role', 'table')
  for (const body of table.tBodies) {
    body.setAttribute('role', 'rowgroup')
    for (const row of body.rows) {
      row.setAttribute('role', 'row')
      for (const [i, cell] of [...row.cells].entries()) {
        cell.setAttribute('role', cell.tagName === 'TH' ? 'rowheader' : 'cell')
        const label = i === 0 || cell.colSpan > 1 ? '' : (heads[i] ?? '')
        if (cell.dataset.label !== label) cell.dataset.label = label
      }
    }
  }
}
