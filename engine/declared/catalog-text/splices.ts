/** Changes of a text by ranges of it, applied together; what no range covers stays to the byte. */
import { CANONICAL, type Layout } from './render.ts'
import { childrenOf, type MapNode, type TreeNode } from './tree.ts'

interface Splice {
  start: number
  end: number
  text: string
}

const BLANK = /^[ \t]*\r?$/

export class Splices {
  private readonly list: Splice[] = []

  /** The line break of what is inserted: that of the first line. */
  readonly eol: string

  /** Where the comments at the head of the file end: they speak of the file, not of what follows. */
  private readonly head: number

  constructor(readonly text: string) {
    this.head = /^\ufeff?([ \t]*(#.*|---.*)?\r?\n)*/.exec(text)![0].length
    this.eol = /\r?\n/.exec(text)?.[0] ?? '\n'
  }

  replace(start: number, end: number, text: string): void {
    if (start < end || text !== '') this.list.push({ start, end, text })
  }

  insert(at: number, text: string): void {
    this.replace(at, at, text)
  }

  /** The lines of a text, in the line breaks of this one. */
  joined(lines: readonly string[]): string {
    return lines.join(this.eol)
  }

  /** @throws Error when two changes want the same characters: a fault of ours. */
  apply(): string {
    const sorted = this.list
      .map((splice, order) => ({ ...splice, order }))
      .sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order)
    let out = ''
    let at = 0
    let wasRemoval = false
    for (const { start, end, text } of sorted) {
      // What is put in within removed lines takes their place; two removals may share blank lines.
      if (start < at && !(wasRemoval && (text === '' || start === end))) throw new Error('two edits overlap')
      out += this.text.slice(at, Math.max(at, start)) + text
      wasRemoval = text === '' || (wasRemoval && start === end && start < at)
      at = Math.max(at, end)
    }
    return out + this.text.slice(at)
  }

  /** Where the line of an offset begins. */
  lineStart(at: number): number {
    return at === 0 ? 0 : this.text.lastIndexOf('\n', at - 1) + 1
  }

  /** Where the line of an offset ends, before its line break. */
  lineEnd(at: number): number {
    const next = this.text.indexOf('\n', at)
    if (next < 0) return this.text.length
    return next > at && this.text[next - 1] === '\r' ? next - 1 : next
  }

  /** Where the line after begins. */
  afterLine(at: number): number {
    const next = this.text.indexOf('\n', at)
    return next < 0 ? this.text.length : next + 1
  }

  column(at: number): number {
    return at - this.lineStart(at)
  }

  /** Nothing but blanks before it on its line. */
  isFirstOnLine(at: number): boolean {
    return /^[ \t\ufeff]*$/.test(this.text.slice(this.lineStart(at), at))
  }

  /**
   * Removes whole lines: from the comment directly above `start`, to the line of `end`. Of blank
   * lines before and after it only those before stay; at the end of the text, none.
   * @param previous where what comes before it ends; null for the first, which leaves no blank lines behind
   */
  removeLines(start: number, end: number, previous: number | null): void {
    const bound = previous ?? -1
    let from = this.lineStart(start)
    while (this.isLine(from, bound, /^[ \t]*#/)) from = this.lineStart(from - 1)
    let to = this.lineEnd(end)
    const isLast = () => this.afterLine(to) === this.text.length
    if (previous === null || this.isLine(from, bound, BLANK))
      while (!isLast() && this.isBlankLine(this.afterLine(to))) to = this.lineEnd(this.afterLine(to))
    if (isLast()) while (this.isLine(from, bound, BLANK)) from = this.lineStart(from - 1)
    // The line break before goes, so that what is put in at the end of the lines finds the one after.
    if (from === 0) this.replace(0, this.afterLine(to), '')
    else this.replace(this.lineEnd(this.lineStart(from - 1)), to, '')
  }

  /** The end of the comment lines below `at` that are indented more than `column`: what is there is part of it. */
  withComments(at: number, column: number): number {
    let end = this.lineEnd(at)
    for (;;) {
      const next = this.afterLine(end)
      const indent = /^( *)#/.exec(this.text.slice(next, this.lineEnd(next)))
      if (next === end || !indent || indent[1]!.length <= column) return end
      end = this.lineEnd(next)
    }
  }

  /** Whether the line above the one at `from` has a form, and begins after `bound`. */
  private isLine(from: number, bound: number, form: RegExp): boolean {
    if (from === 0) return false
    const above = this.lineStart(from - 1)
    return above > bound && above >= this.head && form.test(this.text.slice(above, from - 1))
  }

  private isBlankLine(at: number): boolean {
    return BLANK.test(this.text.slice(at, this.lineEnd(at)))
  }
}

/* How a file is indented, read off its first nested map and its first list under a key. */

export function layoutOf(root: TreeNode, splices: Splices): Layout {
  const found: Partial<Layout> = {}
  const look = (node: TreeNode): void => {
    if (found.step !== undefined && found.dashIndent !== undefined) return
    if (node.kind === 'map' && node.style === 'block') note(node)
    childrenOf(node).forEach(look)
  }
  const note = (node: MapNode): void => {
    const column = splices.column(node.items[0]!.start)
    for (const { value } of node.items) {
      if ((value.kind !== 'map' && value.kind !== 'seq') || value.style !== 'block') continue
      const inner = splices.column(value.items[0]!.start) - column
      if (value.kind === 'map' && inner > 0) found.step ??= inner
      if (value.kind === 'seq' && inner >= 0) found.dashIndent ??= inner
    }
  }
  look(root)
  const step = found.step ?? CANONICAL.step
  // An indentation indicator has one digit (YAML 1.2, 8.1.1.1).
  return { step: step > 8 ? CANONICAL.step : step, dashIndent: found.dashIndent ?? step }
}
