/** What a node and an edge say, in words: for labels, screen readers, the outline and exported pictures. */

import { durationWords } from '../../schemas/duration-words.ts'
import type { GraphEdge, GraphNode } from '../../schemas/types.ts'
import { sourceState } from '../lib/source-words.ts'
import { ago, count, money } from '../lib/time.ts'
import { type DrawnEdge, type DrawnNode, kindWord } from './drawing/fold.ts'
import type { GraphMarks } from './types.ts'

const COUNTED: Partial<Record<GraphNode['kind'], string>> = {
  source: 'event',
  trigger: 'firing',
  agent: 'run',
  destination: 'delivery',
}
const MANY: Record<string, string> = { delivery: 'deliveries' }

/** "1 event", "12 deliveries"; null: it is not counted. */
export function todayWords(node: Pick<GraphNode, 'kind' | 'today'>): string | null {
  const word = COUNTED[node.kind]
  if (node.today === null || !word) return null
  return `${count(node.today)} ${node.today === 1 ? word : (MANY[word] ?? `${word}s`)} today`
}

/** "2 running, 1 queued"; empty: nothing is at work. */
export function workWords(node: Pick<GraphNode, 'running' | 'queued'>): string {
  return [node.running && `${node.running} running`, node.queued && `${node.queued} queued`]
    .filter(Boolean)
    .join(', ')
}

export const spendWords = (node: Pick<GraphNode, 'spend_today_usd'>): string | null =>
  node.spend_today_usd === null ? null : `${money(node.spend_today_usd)} today`

const HEALTH_WORDS: Record<GraphNode['health'], string> = {
  ok: 'working',
  attention: 'needs attention',
  waiting: sourceState('waiting').children,
}

/** What its health is, in the words that the pages of its kind use; what is wrong says why. */
export const healthWords = ({ kind, state, health, reason }: GraphNode): string =>
  reason ??
  (health === 'ok' && kind === 'source' && state === 'active'
    ? sourceState('receiving').children
    : HEALTH_WORDS[health])

export const STATE_WORDS: Record<GraphNode['state'], string> = {
  active: 'active',
  paused: 'paused',
  off: 'off',
  missing: 'missing',
}

export const CHANGE_WORDS = { created: 'created', changed: 'changed', deleted: 'deleted' } as const

export const sharedWords = (node: Pick<GraphNode, 'shared_with'>): string =>
  `shared with ${node.shared_with.map((project) => project.name).join(', ')}`

/** How an agent last concluded, while nothing of it is at work. */
export const verdictWords = (node: Pick<GraphNode, 'last_verdict'>): string | null =>
  node.last_verdict && `last verdict ${node.last_verdict}`

/** "tools logs, desk"; null: it has none. */
export const toolWords = (tools: readonly Pick<GraphNode, 'name'>[]): string | null =>
  tools.length ? `tools ${tools.map(({ name }) => name).join(', ')}` : null

/** "source gateway": unique within a project. */
export const nodeTitle = (node: Pick<GraphNode, 'kind' | 'name'>): string =>
  `${kindWord(node.kind)} ${node.name}`

/** All a node shows, as one line. @param now epoch ms the times are told from */
export function describeNode(node: GraphNode, now: number): string {
  const said = [
    nodeTitle(node),
    node.detail,
    node.state === 'active' ? null : STATE_WORDS[node.state],
    node.health === 'ok' ? null : healthWords(node),
    workWords(node) || null,
    verdictWords(node),
    todayWords(node),
    node.last_at && `last ${ago(node.last_at, now)}`,
    spendWords(node),
    node.customized ? 'customized' : null,
    node.shared_with.length ? sharedWords(node) : null,
  ]
  return said.filter(Boolean).join(', ')
}

/** The same for what is drawn, with what is marked on it. */
export function describeDrawn(drawn: DrawnNode, marks: GraphMarks, now: number): string {
  const base = drawn.node ? describeNode(drawn.node, now) : `${drawn.name}, collapsed`
  const change = marks.changes.get(drawn.id)
  const said = [
    base,
    toolWords(drawn.tools),
    drawn.hidden ? `${drawn.hidden} destinations collapsed` : null,
    marks.notes.get(drawn.id)?.text ?? null,
    change ? `${CHANGE_WORDS[change]} in the draft` : null,
  ]
  return said.filter(Boolean).join(', ')
}

const VERBS: Record<GraphEdge['kind'], string> = {
  feeds: 'feeds',
  wakes: 'wakes',
  hands_off: 'hands over to',
  uses: 'uses',
  tells: 'tells',
}

/** What stands on the line of an edge; empty: nothing does. @param hasOwnPort of its verdict, which stands beside it */
export function edgeLabel(edge: DrawnEdge, hasOwnPort: boolean): string {
  if (!edge.edge) return edge.members.length > 1 ? `${edge.members.length} ×` : ''
  if (edge.kind === 'hands_off')
    return [hasOwnPort ? null : edge.verdict, edge.edge.cooldown].filter(Boolean).join(' · ')
  return edge.edge.enabled ? '' : 'off'
}

/** "trigger errs wakes agent triage, off". @param title of a node, by id */
export function describeEdge(edge: GraphEdge, title: (id: string) => string): string {
  const said = [
    `${title(edge.from)} ${VERBS[edge.kind]} ${title(edge.to)}`,
    edge.verdict && `on ${edge.verdict}`,
    edge.cooldown && `cooldown ${durationWords(edge.cooldown)}`,
    edge.enabled ? null : 'off',
    edge.all ? 'as it watches every source' : null,
    edge.today === null ? null : `${count(edge.today)} today`,
  ]
  return said.filter(Boolean).join(', ')
}
