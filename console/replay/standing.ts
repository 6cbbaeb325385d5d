/**
 * How a project stood after some moments of its replay: what each part had carried, who was at work,
 * what was held back, how full the windows were. `apply` takes one moment; nothing else writes here.
 */
import { type ClaimsHeld, claimWords } from '../../schemas/claim-words.ts'
import type { Replay, ReplayMoment } from '../../schemas/types.ts'

/** A run that waits or is at work. */
export interface Work {
  node: string
  isQueued: boolean
  /** Model calls it has made. */
  calls: number
  /** What it does now, in a word or two. */
  words: string
  practice: boolean
}

export interface Held {
  node: string
  /** gathering or held. */
  phase: string
}

/** What is told of a part once it is done. */
export interface Outcome {
  text: string
  isGood: boolean
}

export type Cooldown = NonNullable<ReplayMoment['cooldown']>

/** A window as the last evaluation left it. */
export type Filled = NonNullable<ReplayMoment['window']> & { at: string }

export interface Standing {
  /** Days since 1970 (UTC) that the counts are of. */
  day: number
  /** What each node and edge carried since midnight UTC, practice left out. */
  counts: Map<string, number>
  /** When each last carried something. */
  lastAt: Map<string, string>
  /** By run. */
  running: Map<string, Work>
  /** By firing. */
  held: Map<string, Held>
  /** By node and key; some may be over. */
  cooldowns: Map<string, Cooldown>
  /** The last one of each trigger's node. */
  windows: Map<string, Filled>
  /** How the last run of an agent, or delivery to a destination, came out; by node. */
  outcomes: Map<string, Outcome>
  /** Claims of the conclusion of a run. */
  claims: Map<string, ClaimsHeld>
  /** Parts that were paused or resumed since the configuration was made. */
  paused: Map<string, boolean>
  /** US dollars by run, as far as they are priced. */
  costs: Map<string, number>
  /** The run the last moments were about. */
  run: string | null
  /** The entity the last moments were about. */
  entity: ReplayMoment['entity']
}

const DAY_MS = 86_400_000
export const dayOf = (at: number): number => Math.floor(at / DAY_MS)

export function startOf({ start, from }: Replay): Standing {
  return {
    day: dayOf(Date.parse(from)),
    counts: new Map(Object.entries(start.counts)),
    lastAt: new Map(),
    running: new Map(
      start.running.map(({ run_id, node }) => [
        run_id,
        { node, isQueued: false, calls: 0, words: 'running', practice: false },
      ]),
    ),
    held: new Map(start.held.map(({ dispatch_id, node, phase }) => [dispatch_id, { node, phase }])),
    cooldowns: new Map(start.cooldowns.map((one) => [`${one.node} ${one.key}`, one])),
    windows: new Map(),
    outcomes: new Map(),
    claims: new Map(),
    paused: new Map(),
    costs: new Map(),
    run: null,
    entity: null,
  }
}

/** What is in it is never changed in place, so a copy of the maps is a copy of all of it. */
export function copyOf(of: Standing): Standing {
  return {
    ...of,
    counts: new Map(of.counts),
    lastAt: new Map(of.lastAt),
    running: new Map(of.running),
    held: new Map(of.held),
    cooldowns: new Map(of.cooldowns),
    windows: new Map(of.windows),
    outcomes: new Map(of.outcomes),
    claims: new Map(of.claims),
    paused: new Map(of.paused),
    costs: new Map(of.costs),
  }
}

/** Takes one moment, in place. */
export function apply(to: Standing, moment: ReplayMoment): void {
  turnDay(to, moment)
  carry(to, moment)
  if (moment.kind === 'run') takeRun(to, moment)
  if (moment.kind === 'step') takeStep(to, moment)
  if (moment.kind === 'firing') takeFiring(to, moment)
  if (moment.kind === 'finding') takeFinding(to, moment)
  if (moment.kind === 'delivery') takeDelivery(to, moment)
  if (moment.kind === 'state') for (const node of moment.nodes) to.paused.set(node, PAUSING.has(moment.phase))
  // A change of what is declared says anew what is paused.
  if (moment.kind === 'change') for (const node of moment.nodes) to.paused.delete(node)
  if (moment.cooldown) to.cooldowns.set(`${moment.cooldown.node} ${moment.cooldown.key}`, moment.cooldown)
  if (moment.window) to.windows.set(`trigger:${moment.window.trigger}`, { ...moment.window, at: moment.at })
  if (moment.entity) to.entity = moment.entity
}

const PAUSING: ReadonlySet<string> = new Set(['pause', 'paused', 'stopped', 'off'])

/** Counts begin anew at midnight UTC. */
function turnDay(to: Standing, { at }: ReplayMoment): void {
  const day = dayOf(Date.parse(at))
  if (day <= to.day) return
  to.day = day
  to.counts.clear()
}

/** Which parts a moment counts for: each is counted by one kind of moment alone. */
function carry(to: Standing, moment: ReplayMoment): void {
  for (const id of [...moment.nodes, ...moment.edges]) {
    if (!isCarried(moment, id.slice(0, id.indexOf(':')))) continue
    to.lastAt.set(id, moment.at)
    if (!moment.practice) to.counts.set(id, (to.counts.get(id) ?? 0) + 1)
  }
}

function isCarried({ kind, phase }: ReplayMoment, part: string): boolean {
  switch (part) {
    case 'source':
    case 'feeds':
      return kind === 'event'
    case 'trigger':
      return kind === 'firing' && phase === 'fired'
    case 'agent':
    case 'wakes':
      return kind === 'run' && phase === 'queued'
    case 'hands_off':
      return kind === 'handoff' && phase === 'started'
    case 'destination':
    case 'tells':
      return kind === 'delivery' && phase === 'delivered'
    default:
      return false
  }
}

const ENDED: ReadonlySet<string> = new Set([
  'succeeded',
  'exhausted',
  'failed',
  'capped',
  'empty',
  'cancelled',
])

function takeRun(to: Standing, { run_id, nodes, phase, cost_usd, practice }: ReplayMoment): void {
  if (run_id === null) return
  to.run = run_id
  if (ENDED.has(phase)) {
    const agent = agentOf(nodes) ?? to.running.get(run_id)?.node
    to.running.delete(run_id)
    if (agent !== undefined) to.outcomes.set(agent, { text: phase, isGood: phase === 'succeeded' })
    // What a run cost in the end stands for its calls, of which some may not be told.
    if (cost_usd !== null && !practice) to.costs.set(run_id, cost_usd)
    return
  }
  const before = to.running.get(run_id)
  const node = agentOf(nodes) ?? before?.node
  if (node === undefined) return
  const isQueued = phase === 'queued'
  const words = isQueued ? 'queued' : phase === 'resumed' ? 'resumed after a stop' : 'running'
  to.running.set(run_id, { node, isQueued, calls: before?.calls ?? 0, words, practice })
}

function takeStep(to: Standing, { run_id, nodes, phase, cost_usd, practice, title }: ReplayMoment): void {
  if (run_id === null) return
  to.run = run_id
  const claims = phase === 'conclude' ? /, (\d+) of (\d+) claims? holds?$/.exec(title) : null
  if (claims) to.claims.set(run_id, { held: Number(claims[1]), total: Number(claims[2]) })
  if (cost_usd !== null && !practice) to.costs.set(run_id, (to.costs.get(run_id) ?? 0) + cost_usd)
  const before = to.running.get(run_id)
  const node = agentOf(nodes) ?? before?.node
  if (node === undefined) return
  const calls = (before?.calls ?? 0) + (phase === 'model' ? 1 : 0)
  to.running.set(run_id, { node, isQueued: false, calls, words: stepWords(phase, calls), practice })
}

function stepWords(phase: string, calls: number): string {
  const round = calls > 0 ? `round ${calls}` : 'running'
  if (phase === 'tool') return `${round}, calls a tool`
  if (phase === 'prompt') return 'received the timeline'
  return phase === 'conclude' ? `${round}, concludes` : round
}

function takeFiring(to: Standing, { dispatch_id, nodes, phase }: ReplayMoment): void {
  if (dispatch_id === null) return
  if (phase === 'fired' || phase === 'dropped') to.held.delete(dispatch_id)
  const node = nodes.find((id) => id.startsWith('trigger:'))
  if (node !== undefined && (phase === 'gathering' || phase === 'held'))
    to.held.set(dispatch_id, { node, phase })
}

/** Its verdict and headline, which follow the entity in the title, with how many of its claims hold. */
function takeFinding(to: Standing, { nodes, run_id, title }: ReplayMoment): void {
  const agent = agentOf(nodes)
  if (agent === undefined) return
  const text = title.includes(': ') ? title.slice(title.indexOf(': ') + 2) : title
  const claims = to.claims.get(run_id ?? '')
  // A claim that does not hold is shown as loudly as one that does.
  to.outcomes.set(agent, {
    text: claims ? `${text} (${claimWords(claims)})` : text,
    isGood: !claims || claims.held === claims.total,
  })
}

const DONE: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  failed: 'failed',
  dropped: 'given up',
  refused: 'refused',
}

function takeDelivery(to: Standing, { nodes, phase }: ReplayMoment): void {
  const node = nodes.find((id) => id.startsWith('destination:'))
  const text = DONE[phase]
  if (node !== undefined && text) to.outcomes.set(node, { text, isGood: phase === 'delivered' })
}

const agentOf = (nodes: readonly string[]): string | undefined => nodes.find((id) => id.startsWith('agent:'))
