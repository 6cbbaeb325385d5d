/** Replays in words. */
import type { ProjectGraph, ReplayGap, ReplayMoment } from '../../schemas/types.ts'
import type { Tone } from '../graph/types.ts'
import { count, moment } from '../lib/time.ts'
import type { Tone as MarkTone } from '../parts/mark.tsx'
import type { MomentKind, Stop } from './player.ts'

export const KINDS: readonly { kind: MomentKind; one: string; many: string }[] = [
  { kind: 'event', one: 'event', many: 'events' },
  { kind: 'evaluation', one: 'evaluation', many: 'evaluations' },
  { kind: 'firing', one: 'firing', many: 'firings' },
  { kind: 'delivery', one: 'delivery', many: 'deliveries' },
  { kind: 'run', one: 'run', many: 'runs' },
  { kind: 'step', one: 'step', many: 'steps' },
  { kind: 'handoff', one: 'handoff', many: 'handoffs' },
  { kind: 'finding', one: 'finding', many: 'findings' },
  { kind: 'change', one: 'change', many: 'changes' },
  { kind: 'state', one: 'pause or resume', many: 'pauses and resumes' },
]

export const kindWords = (kind: MomentKind): (typeof KINDS)[number] =>
  KINDS.find((one) => one.kind === kind) ?? KINDS[0]!

export const STOPS: readonly { value: Stop; label: string }[] = [
  { value: 'firing', label: 'firing' },
  { value: 'run', label: 'run' },
  { value: 'finding', label: 'finding' },
  { value: 'change', label: 'change' },
]

export const MARK_TONES: Record<Tone, MarkTone> = {
  neutral: 'quiet',
  busy: 'busy',
  waiting: 'busy',
  good: 'good',
  bad: 'bad',
}

/** 12:04:07.120 of an instant, with the day where it is told. @param at epoch ms */
export function clockOf(at: number, withDay = false): string {
  const time = new Date(at)
  const pad = (n: number, width = 2): string => String(n).padStart(width, '0')
  const text = `${pad(time.getHours())}:${pad(time.getMinutes())}:${pad(time.getSeconds())}.${pad(time.getMilliseconds(), 3)}`
  return withDay ? `${time.getFullYear()}-${pad(time.getMonth() + 1)}-${pad(time.getDate())} ${text}` : text
}

/** What is known of where one is: all of the span, what is around it, not yet, or it is being read. */
export type LoadState = 'whole' | 'here' | 'not-loaded' | 'loading'

/** Where no moment is shown: never that there is none before all is loaded. */
export function emptyWords(total: number, state: LoadState): string {
  if (state === 'loading') return 'Loading'
  if (state === 'not-loaded') return 'Not loaded yet'
  if (total > 0) return 'Before the first moment'
  return state === 'whole' ? 'Nothing in this span' : 'Not loaded yet'
}

/** Where one is, for those who do not see the slider. */
export function placeWords(
  moment: ReplayMoment | null,
  index: number,
  total: number,
  instant: number,
  state: LoadState,
): string {
  const at = clockOf(instant, true)
  const isShown = moment && (state === 'whole' || state === 'here')
  if (!isShown) return `${at}. ${emptyWords(total, state)}.`
  return `${at}. Moment ${count(index + 1)} of ${count(total)}${state === 'whole' ? '' : ' loaded'}: ${moment.title}`
}

const GAP_WORDS: Record<ReplayGap['kind'], string> = {
  purged: 'Removed',
  sampled: 'Not all kept',
  truncated: 'More than is shown',
  unrecorded: 'Not recorded',
}

/** What is not shown, and of when. */
export function gapWords({ kind, from, to, message }: ReplayGap): string {
  return `${GAP_WORDS[kind]}, ${moment(Date.parse(from), Date.now(), true)} to ${moment(Date.parse(to), Date.now(), true)}: ${message}`
}

const PART_WORDS: Record<string, string> = {
  source: 'source',
  trigger: 'trigger',
  agent: 'agent',
  mcp_server: 'MCP server',
  skill: 'skill',
  destination: 'destination',
}

/** A part of a graph as one says it: "trigger errs", "gateway to errs". */
export function partWords(id: string, { nodes, edges }: Pick<ProjectGraph, 'nodes' | 'edges'>): string {
  const node = nodes.find((one) => one.id === id)
  if (node) return `${PART_WORDS[node.kind]} ${node.name}`
  const edge = edges.find((one) => one.id === id)
  const nameOf = (of: string): string => nodes.find((one) => one.id === of)?.name ?? bare(of)
  if (edge) {
    const on = edge.verdict ? ` on ${edge.verdict}` : ''
    return `${nameOf(edge.from)}${on} to ${nameOf(edge.to)}`
  }
  return bare(id)
}

/** trigger:errs as "trigger errs"; what has an arrow in it stays readable. */
function bare(id: string): string {
  const at = id.indexOf(':')
  const kind = id.slice(0, at)
  return `${PART_WORDS[kind] ?? ''} ${id.slice(at + 1).replace('>', ' to ')}`.trim()
}
