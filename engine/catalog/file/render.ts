/**
 * The canonical text of a catalog: sections and fields in a fixed order, short relations in one
 * line, longer text as literal blocks, nothing folded.
 */
import {
  Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Catalog } from '../../../schemas/types.ts'

export const SECTION_ORDER = [
  'sources',
  'triggers',
  'agents',
  'mcp_servers',
  'projects',
  'skills',
  'wiring',
] as const
export type Section = (typeof SECTION_ORDER)[number]

/** Fields of entries in the order they are written; others follow as they come. */
const FIELD_ORDER: Record<Section, readonly string[]> = {
  sources: ['name', 'connector', 'poll', 'config', 'paused', 'projects'],
  triggers: [
    'name',
    'project',
    'sources',
    'filters',
    'key_field',
    'condition',
    'emit',
    'cooldown',
    'description',
    'paused',
  ],
  agents: [
    'name',
    'project',
    'trigger',
    'prompt',
    'provider',
    'model',
    'mcp_servers',
    'max_rounds',
    'budget_usd',
    'daily_cap',
    'concludes',
    'verdicts',
    'handoffs',
    'webhook_url',
    'webhook_key_label',
    'webhook_token',
    'slack_channel',
    'slack_webhook',
    'github',
    'enabled',
  ],
  mcp_servers: ['name', 'project', 'url', 'auth_header', 'auth_value', 'headers'],
  projects: ['template', 'name', 'goal', 'params', 'objects', 'paused'],
  skills: ['project', 'name', 'description', 'body', 'used_by'],
  wiring: ['project', 'wake', 'agent', 'verdict', 'to', 'cooldown', 'enabled'],
}

/** Lists whose entries are one line each, and maps that are one line. */
const ONE_LINE_ENTRIES = new Set(['labels', 'filters', 'verdicts', 'handoffs', 'objects'])
const ONE_LINE = new Set([
  'condition',
  'emit',
  'sources',
  'mcp_servers',
  'projects',
  'used_by',
  'group_by',
  'summary_by',
])
const ONE_LINE_MAX = 110

/** An entry with its fields in the order they are written. */
export function ordered(section: Section, entry: object): Record<string, unknown> {
  const fields = entry as Record<string, unknown>
  const order = FIELD_ORDER[section]
  const known = order.filter((name) => fields[name] !== undefined)
  const others = Object.keys(fields).filter((name) => !order.includes(name) && fields[name] !== undefined)
  return Object.fromEntries([...known, ...others].map((name) => [name, fields[name]]))
}

/** @returns the text of a catalog; the same catalog gives the same text. */
export function renderCatalog(catalog: Catalog): string {
  const sections = SECTION_ORDER.filter((section) => catalog[section] !== undefined)
  const whole = Object.fromEntries(
    sections.map((section) => [
      section,
      (catalog[section] as object[]).map((entry) => ordered(section, entry)),
    ]),
  )
  return sections.length ? renderBlock(whole, 0) : '{}\n'
}

/** A map or list as block text, indented by so many spaces; ends with a line break. */
export function renderBlock(value: unknown, indent: number): string {
  const doc = new Document(value, { aliasDuplicateObjects: false })
  style(doc.contents as Node | null)
  const text = doc.toString({
    lineWidth: 0,
    indentSeq: true,
    flowCollectionPadding: true,
    minContentWidth: 0,
  })
  if (indent === 0) return text
  const pad = ' '.repeat(indent)
  return text.replace(/^(?=.)/gm, pad)
}

/** A scalar, list or map on one line. */
export function renderInline(value: unknown): string {
  const doc = new Document({ v: value }, { aliasDuplicateObjects: false })
  const node = (doc.contents as YAMLMap).get('v', true) as Node
  if (isMap(node) || isSeq(node)) {
    setFlow(node)
  }
  visit(doc, {
    Scalar: (_key, item) => {
      if (typeof item.value === 'string' && item.value.includes('\n')) item.type = Scalar.QUOTE_DOUBLE
    },
  })
  return doc.toString({ lineWidth: 0, flowCollectionPadding: true }).replace(/^v: /, '').replace(/\n$/, '')
}

function style(root: Node | null): void {
  if (!root) return
  visit(root, {
    Scalar: (key, node) => {
      if (key !== 'key' && typeof node.value === 'string' && isLiteral(node.value))
        node.type = Scalar.BLOCK_LITERAL
    },
    Pair: (_key, pair) => stylePair(pair as Pair<Node, Node>),
  })
}

/** Text with line breaks that a literal block can hold to the letter. */
const isLiteral = (text: string): boolean =>
  text.includes('\n') &&
  !/[^\n\t\x20-\u{10ffff}]|[\u007f-\u009f\ufeff]/u.test(text) &&
  !/^[ \n]/.test(text) &&
  !/[ \t]\n|[ \t]$/.test(text)

function stylePair({ key, value }: Pair<Node, Node>): void {
  const name = isScalar(key) ? String(key.value) : ''
  if (isSeq(value) && ONE_LINE_ENTRIES.has(name)) {
    for (const item of value.items) if (isMap(item) && isShort(item)) setFlow(item)
  } else if (ONE_LINE.has(name) && (isMap(value) || isSeq(value)) && isShort(value)) setFlow(value)
}

/** Only scalars and lists of them, without line breaks, and not too long. */
function isShort(node: YAMLMap | YAMLSeq): boolean {
  let length = 0
  let fits = true
  visit(node, {
    Scalar: (_key, item) => {
      const text = String(item.value)
      length += text.length + 4
      if (text.includes('\n')) fits = false
    },
  })
  return fits && length <= ONE_LINE_MAX
}

function setFlow(node: YAMLMap | YAMLSeq): void {
  visit(node, {
    Collection: (_key, item) => {
      item.flow = true
    },
  })
}
