/** Offsets of a text as the lines and columns people read, both counted from 1. */
import type { CatalogProblem } from '../../../schemas/types.ts'
import { childAt, type Path } from './path.ts'
import type { TreeNode } from './tree.ts'

export type Place = Required<Pick<CatalogProblem, 'line' | 'column' | 'end_line' | 'end_column'>>

/** Offsets to places in one text. Columns count UTF-16 units, as editors do. */
export interface Places {
  at(start: number, end: number): Place
  /**
   * The place of the value at `path`, or of what is nearest above it when there is none. Of a
   * collection over several lines it is the first line: the rest would only be noise in an editor.
   */
  of(path: Path): Place
  /** As `of`, the key of the last step instead of its value. */
  ofKey(path: Path): Place
}

export function placesOf(text: string, root: TreeNode | null): Places {
  const starts = [0]
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1)
  const lineOf = (offset: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
  const at = (start: number, end: number): Place => {
    const line = lineOf(start)
    const last = lineOf(Math.max(start, end))
    return {
      line: line + 1,
      column: start - starts[line]! + 1,
      end_line: last + 1,
      end_column: Math.max(start, end) - starts[last]! + 1,
    }
  }
  const shown = (node: TreeNode): Place => {
    const isBlock = node.kind === 'map' || node.kind === 'seq'
    const lineEnd = text.slice(node.start, node.end).search(/[ \t]*\r?\n/)
    return at(node.start, isBlock && lineEnd >= 0 ? node.start + lineEnd : node.end)
  }
  const walk = (path: Path) => {
    let node = root
    let key: TreeNode | null = null
    for (const step of path) {
      const found = node && childAt(node, step)
      if (!found) break
      node = found.value
      key = found.key
    }
    return { node, key }
  }
  /** An empty value has no characters of its own: its key stands for it. */
  const placeOfValue = ({ node, key }: ReturnType<typeof walk>): Place => {
    if (!node) return at(0, 0)
    return node.start === node.end && key ? shown(key) : shown(node)
  }
  return {
    at,
    of: (path) => placeOfValue(walk(path)),
    ofKey: (path) => {
      const found = walk(path)
      return found.key ? shown(found.key) : placeOfValue(found)
    },
  }
}
