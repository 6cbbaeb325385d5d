/**
 * A list as a table whose rows are links: the link of a row covers all of it, so that a click anywhere, Enter and the
 * middle button open it, and other links and buttons lie above. Where there is little room each row is a card, its cells named.
 */
import { Paper, Table, VisuallyHidden } from '@mantine/core'
import {
  Children,
  cloneElement,
  createContext,
  isValidElement,
  type ReactElement,
  type ReactNode,
  useContext,
} from 'react'
import { Link } from 'react-router'
import { listed } from '../lib/middle.ts'

export interface Column {
  name: string
  /** Numbers stand on the right. */
  isNumber?: boolean
  /** Its name is for screen readers alone, such as that of buttons. */
  isUnnamed?: boolean
  /** It names the row: on a phone it stands first, without its name. */
  isHead?: boolean
  /** Sentences: it stays as wide as their words need, and only a longer one is broken. */
  isText?: boolean
  /** It is left out where there is room for a table, but not for all of it: the page of the row has it. */
  isMinor?: boolean
}

const classOf = (column: Column | undefined, ...more: (string | false)[]): string | undefined =>
  [column?.isNumber && 'row-number', column?.isMinor && 'row-minor', column?.isText && 'row-text', ...more]
    .filter(Boolean)
    .join(' ') || undefined

const Columns = createContext<readonly Column[]>([])

interface Props {
  label: string
  columns: readonly (Column | string)[]
  children: ReactNode
}

/** @param columns a string is a column with that name */
export function Rows({ label, columns, children }: Props) {
  const all = columns.map((column) => (typeof column === 'string' ? { name: column } : column))
  return (
    <Paper withBorder className="rows-frame">
      {/* Roles are said: a phone's cards are drawn as blocks, which browsers take for no table. */}
      <Table className="rows" verticalSpacing={6} role="table" aria-label={label}>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {all.map((column) => (
              <Table.Th key={column.name} role="columnheader" className={classOf(column)}>
                {column.isUnnamed ? <VisuallyHidden>{column.name}</VisuallyHidden> : column.name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          <Columns value={all}>{children}</Columns>
        </Table.Tbody>
      </Table>
    </Paper>
  )
}

/** A cell of a row for each column, in their order; what is false is left out, as its column is. */
export function Row({ children, isDimmed = false }: { children: ReactNode; isDimmed?: boolean }) {
  const columns = useContext(Columns)
  return (
    <Table.Tr role="row" c={isDimmed ? 'dimmed' : undefined}>
      {Children.toArray(children)
        .filter(isValidElement)
        .map((cell, at) => cloneElement(cell as ReactElement<CellProps>, { column: columns[at] }))}
    </Table.Tr>
  )
}

interface CellProps {
  children?: ReactNode
  /** Given by its row. */
  column?: Column | undefined
  /** Stays on one line. */
  isWhole?: boolean
  isMono?: boolean
}

export function Cell({ children, column, isWhole = false, isMono = false }: CellProps) {
  return (
    <Table.Td
      role="cell"
      data-label={column?.isUnnamed ? '' : column?.name}
      className={classOf(column, column?.isHead === true && 'row-head', isMono && 'mono')}
      style={isWhole ? { whiteSpace: 'nowrap' } : { overflowWrap: 'anywhere' }}
    >
      {/* One box, so that a card has its name beside all of it. */}
      <div>{children}</div>
    </Table.Td>
  )
}

/** What is unfolded below a row, over all columns. */
export function Below({ children }: { children: ReactNode }) {
  return (
    <Table.Tr role="row" className="unfolded">
      <Table.Td role="cell" data-label="" colSpan={useContext(Columns).length}>
        <div>{children}</div>
      </Table.Td>
    </Table.Tr>
  )
}

/** The link of a row, to the page of what the row is of. */
export function RowLink({ to, label, children }: { to: string; label?: string; children: ReactNode }) {
  const shown = typeof children === 'string' ? listed(children) : children
  // A name that is cut is whole to those who point at it and to those who hear it.
  const whole = typeof children === 'string' && shown !== children ? children : undefined
  return (
    <Link to={to} className="row-link" aria-label={label ?? whole} title={whole}>
      {shown}
    </Link>
  )
}

/** A link to another part that a row names. */
export function NameLink({ to, children: name }: { to: string; children: string }) {
  const shown = listed(name)
  const whole = shown === name ? undefined : name
  return (
    <Link to={to} className="name-link" aria-label={whole} title={whole}>
      {shown}
    </Link>
  )
}
