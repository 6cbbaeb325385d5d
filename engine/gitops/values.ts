/**
 * A tree as plain values, with every fault that is YAML's rather than the catalog's: keys that are
 * no text or given twice, tags, merge keys, numbers JSON cannot hold, aliases without bound.
 */
import type { Scalar, ScalarTag, Tags } from 'yaml'
import {
  type AliasNode,
  keyOf,
  MAX_BYTES,
  MAX_DEPTH,
  type MapItem,
  type MapNode,
  type Path,
  type ScalarNode,
  type TreeNode,
} from './tree.ts'

/** A fault at a node of the tree. */
interface Flaw {
  path: Path
  start: number
  end: number
  message: string
}

export interface Values {
  value: unknown
  flaws: Flaw[]
  /** The value each node stands for; an alias stands for that of its anchor. */
  of: Map<TreeNode, unknown>
  /** The node each alias refers to. */
  targets: Map<AliasNode, TreeNode>
}

/** What a node amounts to with its aliases written out: about its bytes, and its depth. */
interface Weight {
  bytes: number
  depth: number
}

const CORE_TAGS = ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((t) => `tag:yaml.org,2002:${t}`)

/**
 * @param lineOf the line of an offset, for a key that is given twice
 * @param merges whether merge keys (`<<`) are taken: the value of a map then has what they give
 */
export function valuesOf(root: TreeNode, lineOf: (offset: number) => number, merges = false): Values {
  return new Valuation(lineOf, merges).run(root)
}

/** Whether an item merges the fields of other maps into its own (YAML 1.1, merge key). */
export const isMerge = (item: MapItem): boolean =>
  keyOf(item) === '<<' && (item.key as ScalarNode).style === 'plain'

/** The maps that the value of a merge key names; null where it names something else. */
export function mapsOf(value: unknown): Record<string, unknown>[] | null {
  const all = Array.isArray(value) ? value : [value]
  const isMap = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one)
  return all.every(isMap) ? (all as Record<string, unknown>[]) : null
}

/** What maps give together: of several the first that has a field (YAML 1.1, merge key). */
export const mergeOf = (maps: readonly Record<string, unknown>[]): Record<string, unknown> =>
  Object.assign({}, ...maps.toReversed())

class Valuation {
  private readonly flaws: Flaw[] = []
  private readonly of = new Map<TreeNode, unknown>()
  private readonly targets = new Map<AliasNode, TreeNode>()
  private readonly anchors = new Map<string, TreeNode>()
  private readonly weights = new Map<TreeNode, Weight>()
  private isBeyond = false

  constructor(
    private readonly lineOf: (offset: number) => number,
    private readonly merges: boolean,
  ) {}

  run(root: TreeNode): Values {
    this.visit(root, [])
    return { value: this.of.get(root), flaws: this.flaws, of: this.of, targets: this.targets }
  }

  private flaw(path: Path, { start, end }: { start: number; end: number }, message: string): void {
    this.flaws.push({ path, start, end, message })
  }

  private visit(node: TreeNode, path: Path): Weight {
    if (node.anchor !== null) this.anchors.set(node.anchor, node)
    if (node.tag !== null && !CORE_TAGS.includes(node.tag) && node.tag !== '!')
      this.flaw(
        path,
        { start: node.outer, end: Math.max(node.outer + 1, node.start) },
        'tags are not accepted',
      )
    const weight = this.weigh(node, path)
    this.weights.set(node, weight)
    this.checkWeight(node, path, weight)
    return weight
  }

  private weigh(node: TreeNode, path: Path): Weight {
    switch (node.kind) {
      case 'scalar':
        this.of.set(node, this.scalar(node, path))
        return { bytes: 1 + node.source.length, depth: 0 }
      case 'alias':
        return this.alias(node, path)
      case 'seq': {
        const weights = node.items.map((item, i) => this.visit(item.value, [...path, i]))
        this.of.set(
          node,
          node.items.map((item) => this.of.get(item.value)),
        )
        return sum(weights)
      }
      case 'map':
        return this.map(node, path)
    }
  }

  /** A bomb is told once, where it goes beyond the bound; nothing is expanded to find it. */
  private checkWeight(node: TreeNode, path: Path, { bytes, depth }: Weight): void {
    if (this.isBeyond || (bytes <= MAX_BYTES && path.length + depth <= 2 * MAX_DEPTH && depth <= MAX_DEPTH))
      return
    this.isBeyond = true
    const what = bytes > MAX_BYTES ? 'more than 8 MiB' : `nested more than ${MAX_DEPTH} deep`
    this.flaw(
      path,
      { start: node.start, end: node.start + 1 },
      `with its aliases written out, this is ${what}`,
    )
  }

  private scalar(node: ScalarNode, path: Path): unknown {
    const { value } = node
    if (typeof value !== 'number') return value
    if (!Number.isFinite(value)) this.flaw(path, node, 'must be a finite number')
    const digits = /^[-+]?0*(\d+)$/.exec(node.source)?.[1]
    if (digits && !Number.isSafeInteger(value) && String(Math.abs(value)) !== digits)
      this.flaw(path, node, 'has more digits than a number keeps; put it in quotes')
    return value === 0 ? 0 : value
  }

  private alias(node: AliasNode, path: Path): Weight {
    const target = this.anchors.get(node.name)
    const weight = target && this.weights.get(target)
    if (!target) this.flaw(path, node, `no value above has the anchor &${node.name}`)
    else if (!weight) this.flaw(path, node, `the value of &${node.name} cannot hold itself`)
    if (!target || !weight) return { bytes: 1, depth: 0 }
    this.targets.set(node, target)
    this.of.set(node, this.of.get(target))
    return weight
  }

  private map(node: MapNode, path: Path): Weight {
    const value: Record<string, unknown> = {}
    const lines = new Map<string, number>()
    const weights: Weight[] = []
    const merged: Record<string, unknown>[] = []
    for (const item of node.items) {
      const name = keyOf(item)
      const inner = [...path, name ?? this.keyText(item.key)]
      weights.push(this.visit(item.key, inner), this.visit(item.value, inner))
      const known = name === null ? undefined : lines.get(name)
      if (name === null) this.flaw(inner, item.key, 'a key must be text; put it in quotes')
      else if (isMerge(item)) {
        const maps = mapsOf(this.of.get(item.value))
        if (!this.merges) this.flaw(inner, item.key, 'merge keys are not accepted; write the fields out')
        else if (maps) merged.push(...maps)
        else this.flaw(inner, item.key, 'a merge key takes a map, or a list of maps')
      } else if (name === '__proto__') this.flaw(inner, item.key, 'is not accepted as a key')
      else if (known !== undefined)
        this.flaw(inner, item.key, `${name.slice(0, 64)} is already given at line ${known}`)
      else {
        lines.set(name, this.lineOf(item.key.start))
        value[name] = this.of.get(item.value)
      }
    }
    this.of.set(node, merged.length ? { ...mergeOf(merged), ...value } : value)
    return sum(weights)
  }

  private keyText(key: TreeNode): string {
    return key.kind === 'scalar' ? key.source : '?'
  }
}

function sum(weights: readonly Weight[]): Weight {
  let [bytes, depth] = [2, 0]
  for (const weight of weights) {
    bytes += weight.bytes
    depth = Math.max(depth, weight.depth)
  }
  return { bytes, depth: depth + 1 }
}

/*
 * Scalars as YAML text that reads back to the same value here, and to the same kind of value in
 * readers of YAML 1.1, to which `on` is true and `2026-11-20` a date.
 */

/** Where a scalar is written: in a flow collection the signs of the collection end a plain one. */
interface ScalarPlace {
  inFlow: boolean
}

/** Words and numbers that some reader takes for something else than text. */
const RESERVED = [/^(~|null|true|false|yes|no|on|off|y|n|nan|inf)$/i, /^[-+]?\.?[0-9]/, /^[-+]?\.(inf|nan)$/i]

/** Begins with a digit and is no number to anyone. */
const DURATION = /^[0-9]+(\.[0-9]+)?(ms|s|m|h|d|w)$/

/** What a plain scalar may consist of at all; anything else is quoted. */
const PLAIN = /^[\p{L}\p{N}_./$(+;][^\p{C}\p{Zl}\p{Zp}]*$/u

/** Characters that a double-quoted scalar shows as escapes although JSON does not. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Zl}\p{Zp}\u00a0]/gu

/** A string, number, boolean or null on one line. */
export function scalarText(value: unknown, { inFlow }: ScalarPlace): string {
  if (typeof value !== 'string') return Object.is(value, -0) ? '0' : String(value)
  return isPlain(value, inFlow) ? value : doubleQuoted(value)
}

/** Whether a string needs no quotes. */
function isPlain(text: string, inFlow: boolean): boolean {
  if (DURATION.test(text)) return true
  if (!PLAIN.test(text) || RESERVED.some((form) => form.test(text))) return false
  if (/[\s:]$|: |\s#/.test(text)) return false
  // A colon before a sign of the collection ends a key there.
  return !(inFlow && /[,[\]{}]|:/.test(text))
}

/**
 * JSON's escapes are YAML's, but for characters beyond U+FFFF, which JSON writes as two: readers built on libyaml
 * refuse half of a pair. What cannot be seen is escaped as well.
 */
export const doubleQuoted = (text: string): string =>
  JSON.stringify(text).replace(INVISIBLE, (char) => {
    const code = char.codePointAt(0)!.toString(16)
    return char.length === 1 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
  })

/** The same in a file that is JSON: beyond U+FFFF a character stands for itself, which both can read. */
export const jsonQuoted = (text: string): string =>
  JSON.stringify(text).replace(INVISIBLE, (char) =>
    char.length === 1 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char,
  )

/** Single quotes hold a line of visible characters. */
export function singleQuoted(text: string): string | null {
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? null : `'${text.replaceAll("'", "''")}'`
}

/**
 * A string with line breaks as a literal block: the header, and the lines without their indentation.
 * @returns null when a literal block cannot hold it to the letter
 */
export function literalLines(text: string, step: number): { header: string; lines: string[] } | null {
  if (!text.includes('\n') || /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u.test(text)) return null
  // More than one line break at the end would need to keep the blank lines that follow the value.
  if (/\n\n$/.test(text) || !/\S/.test(text)) return null
  const lines = text.replace(/\n$/, '').split('\n')
  if (/^\s*$/.test(lines.at(-1)!)) return null
  const indicator = /^[ \t\n]/.test(text) ? String(step) : ''
  return { header: `|${indicator}${text.endsWith('\n') ? '' : '-'}`, lines }
}

/*
 * The same where the library writes a text, as `svc catalog fmt` does: in quotes as they are written, in blocks as
 * `literalLines` says. So what an export writes is laid out already.
 */

const TEXT = 'tag:yaml.org,2002:str'
/** Columns of one level. */
const STEP = 2

/** The tags of the library, that of texts as an export writes them. */
export const asExported = (tags: Tags): Tags =>
  tags.map((tag) => (typeof tag === 'object' && tag.tag === TEXT ? textTag(tag as ScalarTag) : tag))

function textTag(tag: ScalarTag): ScalarTag {
  const stringify: ScalarTag['stringify'] = (item, context, onComment, onChompKeep) =>
    quotedAsWritten(item) ??
    blockText(item, context, onComment) ??
    tag.stringify!(item, context, onComment, onChompKeep)
  return { ...tag, stringify }
}

/** What is in double quotes on one line stays: an escape is there for what cannot be seen, or that readers refuse. */
function quotedAsWritten({ type, srcToken }: Scalar): string | null {
  if (type !== 'QUOTE_DOUBLE' || !srcToken || !('source' in srcToken)) return null
  return srcToken.source.includes('\n') ? null : srcToken.source
}

type StringifyContext = Parameters<NonNullable<ScalarTag['stringify']>>[1]

function blockText(
  { type, value, comment }: Scalar,
  { implicitKey, inFlow, indent }: StringifyContext,
  onComment?: () => void,
): string | null {
  if (type !== 'BLOCK_LITERAL' || implicitKey || inFlow || indent === '') return null
  const literal = typeof value === 'string' ? literalLines(value, STEP) : null
  if (!literal) return null
  const { header, lines } = literal
  const note = comment ? ` #${comment.replaceAll(/ ?[\r\n]+/g, ' ')}` : ''
  if (note) onComment?.()
  return [header + note, ...lines.map((line) => (line ? indent + line : ''))].join('\n')
}
