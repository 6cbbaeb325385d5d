/** The library's nodes as places of the text: where each value, its key and its separators are. */
import {
  type CST,
  isAlias,
  isMap,
  isScalar,
  type Pair,
  type ParsedNode,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { MapItem, MapNode, ScalarNode, SeqItem, SeqNode, TreeNode } from './tree.ts'

type Props = readonly CST.SourceToken[]

/** @param text the whole text, of which `node` was composed without an error */
export function plantTree(text: string, node: ParsedNode): TreeNode {
  return plant(text, node, [], node.range[0])
}

/** @param slot where the value of an empty node belongs */
function plant(text: string, node: ParsedNode | null, props: Props, slot: number): TreeNode {
  const given = props.filter(({ type }) => type === 'anchor' || type === 'tag')
  const last = given.at(-1)
  const at = last ? last.offset + last.source.length : slot
  if (!node) return emptyScalar(at)
  const { anchor = null } = node as { anchor?: string }
  const { tag = null } = node as { tag?: string }
  const isEmpty = isScalar(node) && !node.srcToken
  const start = isEmpty ? at : node.range[0]
  const span = { outer: given[0]?.offset ?? start, start, end: isEmpty ? at : node.range[1], anchor, tag }
  if (isAlias(node)) return { ...span, kind: 'alias', name: node.source, tag: null }
  if (isScalar(node)) {
    const { value, source = '' } = node
    return {
      ...span,
      kind: 'scalar',
      value,
      source,
      style: styleOf(node),
      end: scalarEnd(text, node, span.end),
    }
  }
  return isMap(node)
    ? plantMap(text, node as YAMLMap.Parsed, span)
    : plantSeq(text, node as YAMLSeq.Parsed, span)
}

type Span = Pick<TreeNode, 'outer' | 'start' | 'end' | 'anchor' | 'tag'>

const emptyScalar = (at: number): ScalarNode => ({
  kind: 'scalar',
  value: null,
  source: '',
  style: 'plain',
  outer: at,
  start: at,
  end: at,
  anchor: null,
  tag: null,
})

function plantMap(text: string, node: YAMLMap.Parsed, span: Span): MapNode {
  const items = node.items.map((pair) => plantPair(text, pair as Pair<ParsedNode, ParsedNode | null>))
  const isBare = node.flow === true && !node.srcToken
  const style = isBare ? 'bare' : node.flow ? 'flow' : 'block'
  const end = node.flow && !isBare ? span.end : (items.at(-1)?.value.end ?? span.end)
  const start = isBare ? (items[0]?.start ?? span.start) : span.start
  return { ...span, start, outer: Math.min(span.outer, start), kind: 'map', style, items, end }
}

function plantPair(text: string, pair: Pair<ParsedNode, ParsedNode | null>): MapItem {
  const { start = [], sep = [] } = pair.srcToken as CST.CollectionItem
  const mark = start.find(({ type }) => type === 'explicit-key-ind')
  const key = plant(text, pair.key, start, mark ? mark.offset + 1 : (sep[0]?.offset ?? pair.key.range[0]))
  const colon = sep.find(({ type }) => type === 'map-value-ind')
  const slot = colon ? colon.offset + colon.source.length : key.end
  return { start: mark?.offset ?? key.outer, key, slot, value: plant(text, pair.value, sep, slot) }
}

function plantSeq(text: string, node: YAMLSeq.Parsed, span: Span): SeqNode {
  const source = (node.srcToken as CST.BlockSequence | CST.FlowCollection).items.filter(isItem)
  const items = node.items.map((child, i): SeqItem => {
    const { start = [] } = source[i]!
    const dash = start.find(({ type }) => type === 'seq-item-ind')
    const slot = dash ? dash.offset + 1 : child.range[0]
    const value = plant(text, child, start, slot)
    return { start: dash?.offset ?? value.outer, slot: dash ? slot : value.outer, value }
  })
  const end = node.flow ? span.end : (items.at(-1)?.value.end ?? span.end)
  return { ...span, kind: 'seq', style: node.flow ? 'flow' : 'block', items, end }
}

/** Whether a source item became an item; one of comments alone did not. */
function isItem({ start, key, sep, value }: CST.CollectionItem): boolean {
  const marks = ['seq-item-ind', 'explicit-key-ind', 'anchor', 'tag']
  return Boolean(key || sep || value || start.some(({ type }) => marks.includes(type)))
}

function styleOf({ type }: Scalar): ScalarNode['style'] {
  if (type === Scalar.QUOTE_SINGLE) return 'single'
  if (type === Scalar.QUOTE_DOUBLE) return 'double'
  if (type === Scalar.BLOCK_LITERAL) return 'literal'
  return type === Scalar.BLOCK_FOLDED ? 'folded' : 'plain'
}

/**
 * Where a block scalar ends: at the end of its last line with text, before the blank lines that set
 * it apart from what follows; with all of them when they are part of the value (chomping +).
 */
function scalarEnd(text: string, node: Scalar.Parsed, end: number): number {
  const token = node.srcToken
  if (token?.type !== 'block-scalar') return end
  const header = token.props.find(({ type }) => type === 'block-scalar-header') as CST.SourceToken
  const source = text.slice(node.range[0], end)
  const last = source.indexOf('\n', source.trimEnd().length)
  const isContent = header.source.includes('+') || (last >= 0 && /\n +/.test(source.slice(last)))
  const lineBreak = isContent || last < 0 ? source.length - (source.endsWith('\n') ? 1 : 0) : last
  return node.range[0] + lineBreak - (source[lineBreak - 1] === '\r' && source[lineBreak] === '\n' ? 1 : 0)
}
