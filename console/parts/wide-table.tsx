/** A table of many columns: it scrolls where it is wider than its place; under 700 px each row is a card, its cells named. */
import { type CSSProperties, type ReactNode, useLayoutEffect, useRef } from 'react'

/** @param minWidth px below which it scrolls, on screens of more than 700 px */
export function WideTable({ minWidth, children }: { minWidth: number; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  // Cells are named by the head of their column each time that the table is drawn.
  useLayoutEffect(() => {
    for (const table of box.current?.querySelectorAll('table') ?? []) nameCells(table)
  })
  return (
    <div
      className="wide-table"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so it must take the keyboard.
      tabIndex={0}
      style={{ '--least': `${minWidth}px` } as CSSProperties}
    >
      {children}
    </div>
  )
}

/** Roles are said too: a phone's cards are drawn as blocks, which browsers take for no table. */
function nameCells(table: HTMLTableElement): void {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent?.trim() ?? '')
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
