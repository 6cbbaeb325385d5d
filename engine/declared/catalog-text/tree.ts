/**
 * A YAML text as a tree of places: what the `yaml` library composed, with the offsets that edits and
 * problems need. Everything after parse.ts works on these nodes, not on the library's.
 */

/** `start` and `end` are offsets of the value's own characters; `outer` begins at its anchor or tag. */
interface Span {
  outer: number
  start: number
  end: number
  anchor: string | null
  tag: string | null
}

export interface ScalarNode extends Span {
  kind: 'scalar'
  value: unknown
  style: 'plain' | 'single' | 'double' | 'literal' | 'folded'
  /** As resolved from the text, before it became a number or the like. */
  source: string
}

export interface AliasNode extends Span {
  kind: 'alias'
  name: string
}

export interface MapItem {
  /** First character of the key, its anchor, tag or question mark. */
  start: number
  key: TreeNode
  value: TreeNode
  /** Offset after the colon; after the key when there is none. */
  slot: number
}

export interface MapNode extends Span {
  kind: 'map'
  style: 'block' | 'flow' | 'bare'
  items: MapItem[]
}

export interface SeqItem {
  /** The dash of a block sequence; else the first character of the item. */
  start: number
  value: TreeNode
  /** Offset after the dash; the start of the item in a flow sequence. */
  slot: number
}

export interface SeqNode extends Span {
  kind: 'seq'
  style: 'block' | 'flow'
  items: SeqItem[]
}

export type TreeNode = ScalarNode | AliasNode | MapNode | SeqNode

/** The text of a key, or null when it is not a string. */
export function keyOf(item: MapItem): string | null {
  return item.key.kind === 'scalar' && typeof item.key.value === 'string' ? item.key.value : null
}

/** The item of a map under this key; the first one, should it be there twice. */
function itemAt(node: MapNode, key: string): MapItem | undefined {
  return node.items.find((item) => keyOf(item) === key)
}

/** The nodes directly under a node, keys before their values. */
export function childrenOf(node: TreeNode): TreeNode[] {
  if (node.kind === 'map') return node.items.flatMap((item) => [item.key, item.value])
  return node.kind === 'seq' ? node.items.map((item) => item.value) : []
}

/* Paths into a catalog file: as text, and as steps through its tree. */

/** Steps from the root of the file. */
export type Path = readonly (string | number)[]

/** triggers[2].sources[0]; a key that is no word is written in brackets and quotes. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text ? `${text}.${step}` : step
  }, '')
}

/** Today's word of a section or field to the one a file of before 1.14 has (SPEC.md, Catalog YAML). */
const OLD_WORDS: Record<string, string> = { projects: 'usecases', template: 'recipe' }

/** The node one step below, with its key. A number also reads an array given as text. */
export function childAt(
  node: TreeNode,
  step: string | number,
): { value: TreeNode; key: TreeNode | null } | null {
  if (node.kind === 'seq') {
    const item = node.items[Number(step)]
    return item ? { value: item.value, key: null } : null
  }
  if (node.kind !== 'map') return null
  const key = String(step)
  const item = itemAt(node, key) ?? (OLD_WORDS[key] ? itemAt(node, OLD_WORDS[key]) : undefined)
  return item ? { value: item.value, key: item.key } : null
}
