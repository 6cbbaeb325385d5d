/**
 * What is seen of joined entities beside reads: how many of the newest events the rules and a draft of one cover, and
 * whose neighbours a thing has. Both are wide reads, bounded, in steps.
 */

import type { EntityCoverage, EntityCoverageRequest, EntityNeighbours } from '../../schemas/types.ts'
import type { NeighboursAsked } from '../calls.ts'
import { fail } from '../errors.ts'
import { iso } from '../model/units.ts'
import { TRACE_ID_LABELS } from './brief/brief.ts'
import {
  conflictsOf,
  type EntityRule,
  EntityRules,
  entityFault,
  type JoinedThing,
  type Name,
  nameText,
} from './entity-rules.ts'
import type { Steps } from './steps.ts'
import { firstPositions } from './store/scan.ts'
import { labelIdsOf } from './store/tail.ts'
import type { ReadContext } from './timeline/context.ts'
import { matchingQuery } from './timeline/fit.ts'
import { compilePlan, queryOf, resolveWindow } from './timeline/plan.ts'
import { spansOfTraces, type TracePart } from './timeline/traces.ts'

/* Coverage: of the newest events, grouped by what labels they have. */

/** Newest events that are looked at, and those of one step. */
const LOOKED_AT = 20_000
const STEP = 2_500
/** Names without an entity, and names that others have, that are shown. */
const SHOWN = 8
/** The name of a draft that has none. */
const DRAFT = ' draft'

interface LabelSet {
  labels: Uint8Array
  entity: number | null
  n: number
}

/** What one label is, by the rules of now and by those with the draft. */
interface Read extends Name {
  now: JoinedThing | null
  then: JoinedThing | null
}

/**
 * @param body a draft of a joined entity; without `is` the rules of now alone are looked at
 * @throws SvcError invalid, naming the field and the rule
 */
export function* coverageInSteps(ctx: ReadContext, body: EntityCoverageRequest): Steps<EntityCoverage> {
  const declared = ctx.entities.declared()
  const draft = draftOf(body)
  const others = declared.filter(({ name }) => name !== draft?.name)
  // Of one that is edited: as if it were not there yet.
  const rules = new EntityRules(others)
  const after = draft ? new EntityRules([...others, draft]) : rules
  const counting = new Counting(ctx, rules, after, draft?.name ?? null)
  const last = ctx.index.tail.lastId
  const first = Math.max(0, last - LOOKED_AT)
  const select = ctx.db.prepare<[number, number], LabelSet>(
    'SELECT labels, entity, count(*) AS n FROM events WHERE id > ? AND id <= ? GROUP BY labels, entity',
  )
  for (let to = last; to > first; to -= STEP) {
    for (const set of select.iterate(Math.max(first, to - STEP), to)) counting.add(set)
    yield
  }
  return {
    ...counting.told(),
    conflicts: draft
      ? conflictsOf([...others, draft])
          .filter(({ of }) => of.includes(draft.name))
          .map(({ name, of: [a, b] }) => ({ name, entity: a === draft.name ? b : a }))
      : [],
  }
}

function draftOf({ name, is, ...spec }: EntityCoverageRequest): EntityRule | null {
  if (is === undefined) return null
  const draft = { ...spec, is, name: name ?? DRAFT }
  const fault = entityFault(draft)
  if (fault) fail('invalid', fault.text, { field: fault.field })
  return draft
}

class Counting {
  private events = 0
  private unjoined = 0
  private joins = 0
  private adds = 0
  private readonly read = new Map<number, Read | null>()
  /** By the id of the thing: its names that events have. */
  private readonly things = new Map<string, Set<string>>()
  private readonly byLabel = new Map<string, { events: number; values: Set<string> }>()
  private readonly without = new Map<string, Name & { events: number }>()
  private readonly taken = new Map<string, { entity: string; events: number }>()

  constructor(
    private readonly ctx: ReadContext,
    private readonly rules: EntityRules,
    private readonly after: EntityRules,
    private readonly draft: string | null,
  ) {}

  add({ labels, entity, n }: LabelSet): void {
    this.events += n
    const own = [...labelIdsOf(labels)].flatMap((id) => this.of(id) ?? [])
    const has = own.some(({ now }) => now !== null)
    const joined = own.filter(({ then }) => this.draft !== null && then?.entity === this.draft)
    if (!has) this.unjoined += n
    if (joined.length) this.joins += n
    if (joined.length && !has) this.adds += n
    for (const name of joined) this.note(name, n)
    for (const name of own) this.noteTaken(name, n)
    if (!has && joined.length === 0) this.noteWithout(entity, n)
  }

  told(): Omit<EntityCoverage, 'conflicts'> {
    const names = [...this.byLabel].map(([label, { events, values }]) => ({
      ...{ label, events, values: values.size },
    }))
    const most = <T extends { events: number }>(all: Iterable<T>): T[] =>
      [...all].sort((a, b) => b.events - a.events).slice(0, SHOWN)
    return {
      ...{ events: this.events, unjoined: this.unjoined, joins: this.joins, adds: this.adds },
      things: this.things.size,
      joined_things: [...this.things.values()].filter((found) => found.size > 1).length,
      names: names.sort((a, b) => b.events - a.events),
      without: most(this.without.values()),
      taken: most([...this.taken].map(([name, one]) => ({ name, ...one }))),
    }
  }

  private of(id: number): Read | null {
    let known = this.read.get(id)
    if (known === undefined) {
      const { name: label, value } = this.ctx.dictionary.label(id)
      const isOurs = label.startsWith('@')
      const now = isOurs ? null : this.rules.of(label, value)
      const then = isOurs ? null : this.after.of(label, value)
      known = isOurs ? null : { label, value, now, then }
      this.read.set(id, known)
    }
    return known
  }

  private note({ label, value, then }: Read, n: number): void {
    const found = this.things.get(then!.id) ?? new Set()
    this.things.set(then!.id, found.add(`${label}=${value}`))
    const of = this.byLabel.get(label) ?? { events: 0, values: new Set<string>() }
    of.events += n
    of.values.add(value)
    this.byLabel.set(label, of)
  }

  /** A name that the draft would have, but for another entity that has it already. */
  private noteTaken({ label, value, then }: Read, n: number): void {
    if (this.draft === null || then === null || then.entity === this.draft) return
    if (!this.alone().of(label, value)) return
    const name = nameText({ label, value })
    const one = this.taken.get(name) ?? { entity: then.entity, events: 0 }
    one.events += n
    this.taken.set(name, one)
  }

  private onlyDraft: EntityRules | null = null
  private alone(): EntityRules {
    this.onlyDraft ??= this.after.only(this.draft!)
    return this.onlyDraft
  }

  private noteWithout(entity: number | null, n: number): void {
    if (entity === null) return
    const { name: label, value } = this.ctx.dictionary.label(entity)
    const key = `${label}=${value}`
    const one = this.without.get(key) ?? { label, value, events: 0 }
    one.events += n
    this.without.set(key, one)
  }
}

/* Neighbours: what rules say, what calls what by stored spans, and what runs on what by labels of the same event. */

type Edge = EntityNeighbours['neighbours'][number]

const EDGE_WORDS: Readonly<Record<Edge['edge'], string>> = {
  ...{ calls: 'calls', called_by: 'is called by', runs_on: 'runs on', runs: 'runs' },
  ...{ owned_by: 'is owned by', owns: 'owns' },
}
/** Neighbours that a run is told of. */
const TOLD = 12

/**
 * What a run is told of an entity before its events, in lines: its other names, and its neighbours.
 * @param to end of the window, epoch ms. @returns none where no rule has it
 */
export function* entityLinesInSteps(
  ctx: ReadContext,
  { label, value, to }: Name & { to: number },
  seen: Seen,
): Steps<string[]> {
  const thing = seen.rules.of(label, value)
  if (!thing) return []
  const asked = { label, value, window: '24h', to: iso(to) }
  const { neighbours } = yield* neighboursInSteps(ctx, asked, to, seen)
  const others = thing.names.filter((name) => name.label !== label || name.value !== value)
  const lines = neighbours.slice(0, TOLD).map(({ edge, by, count, open_incidents: open, ...name }) => {
    const known = by === 'rules' ? 'by a rule' : `${count} in ${by}`
    const trouble = open ? `; ${open} open ${open === 1 ? 'incident' : 'incidents'}` : ''
    return `${label}=${value} ${EDGE_WORDS[edge]} ${nameText(name)} (${known}${trouble})`
  })
  return [
    ...(others.length ? [`${label}=${value} is also ${others.map(nameText).join(', ')}`] : []),
    ...lines,
  ]
}

/** Newest events of the thing looked at, for their labels and for their traces. */
const EVENTS = 2_000
const TRACES = 40
/** Neighbours in an answer, and event ids that show one. */
const NEIGHBOURS = 40
const EVIDENCE = 3
/** Labels of what something runs on, the nearest first (OpenTelemetry's resource attributes, Kubernetes, Prometheus). */
const PLACES = ['node', 'k8s_node_name', 'host', 'host_name', 'instance', 'k8s_cluster_name', 'cluster']
/** Labels of what runs somewhere. */
const WORKLOADS = [
  ...['service', 'deployment', 'statefulset', 'daemonset', 'app'],
  ...['k8s_deployment_name', 'k8s_statefulset_name', 'k8s_daemonset_name', 'k8s_cronjob_name'],
]
const OPPOSITE = {
  calls: 'called_by',
  runs_on: 'runs',
  owned_by: 'owns',
  called_by: 'calls',
  runs: 'runs_on',
  owns: 'owned_by',
} as const

/** What a run may see: the rules and events of an instant, of its projects. */
interface Seen {
  rules: EntityRules
  ceiling: number
  /** Ids; none: everything. */
  projects: readonly string[]
}

/**
 * @param now end of the window where none is given, epoch ms. @param seen absent: all of now
 * @throws SvcError invalid
 */
export function* neighboursInSteps(
  ctx: ReadContext,
  { label, value, window = '24h', to }: NeighboursAsked,
  now: number,
  seen?: Seen,
): Steps<EntityNeighbours> {
  ctx.names.refresh()
  const span = resolveWindow({ window, ...(to === undefined ? {} : { to }) }, now)
  const { rules, ceiling, projects } = seen ?? {
    ...{ rules: ctx.entities.rules(), ceiling: ctx.index.tail.lastId, projects: [] },
  }
  const thing = rules.of(label, value)
  const around = new Around(ctx, rules, thing?.names ?? [{ label, value }])
  for (const { edge, to: name } of thing?.neighbours ?? []) around.add(edge, name, 'rules', null)
  for (const { edge, from } of rules.sayingOf(around.names)) around.add(OPPOSITE[edge], from, 'rules', null)
  yield
  const scope = projects.length ? { project: projects } : {}
  const asked = { selector: { [label]: value }, ...scope }
  const plan = compilePlan(asked, ctx.db, ctx.dictionary, ctx.names, rules)
  const query = yield* matchingQuery(ctx, plan, queryOf(plan, span, ceiling))
  const positions = firstPositions(ctx.index.all(), query, 'desc', EVENTS, null)
  const traces = around.places(positions.map(({ id }) => id))
  yield
  const parts = yield* spansOfTraces(ctx, [...traces].slice(0, TRACES), { now, ceiling, projects })
  around.calls(parts)
  return {
    ...{ label, value },
    ...(thing ? { entity: thing.entity, title: thing.title, names: thing.names.map(nameText) } : {}),
    ...(thing?.kind === undefined ? {} : { kind: thing.kind }),
    ...{ from: iso(span.from), to: iso(span.shownTo) },
    ...{ events: positions.length, traces: Math.min(TRACES, traces.size), spans: parts.length },
    is_cut: positions.length === EVENTS || traces.size > TRACES,
    neighbours: around.told(span, query.ceiling),
  }
}

class Around {
  private readonly edges = new Map<string, Edge>()

  constructor(
    private readonly ctx: ReadContext,
    private readonly rules: EntityRules,
    readonly names: readonly Name[],
  ) {}

  /** One more sign of a neighbour. @param event that shows it; null: a rule says it */
  add(edge: Edge['edge'], name: Name, by: Edge['by'], event: string | null): void {
    if (this.isOwn(name)) return
    const thing = this.rules.of(name.label, name.value)
    const key = `${edge} ${thing?.id ?? nameText(name)}`
    const known = this.edges.get(key)
    const one: Edge = known ?? {
      ...{ edge, label: name.label, value: name.value, by, count: 0, evidence: [] },
      title: thing?.title ?? name.value,
      ...(thing ? { entity: thing.entity } : {}),
      ...(thing?.kind === undefined ? {} : { kind: thing.kind }),
      ...{ last_seen: null, open_incidents: 0 },
    }
    if (event !== null) {
      one.count++
      if (one.evidence.length < EVIDENCE && !one.evidence.includes(event)) one.evidence.push(event)
    }
    this.edges.set(key, one)
  }

  /** Where it runs, and what runs on it. @returns label ids of its traces, newest first */
  places(ids: readonly number[]): Set<number> {
    const { ctx } = this
    const traces = new Set<number>()
    const isPlace = this.names.some(({ label }) => PLACES.includes(label))
    for (const { id, labels } of ctx.rows.read(ids, false)) {
      const own = [...labelIdsOf(labels)].map((one) => ({ one, ...ctx.dictionary.label(one) }))
      for (const { one, name } of own) if (TRACE_ID_LABELS.includes(name)) traces.add(one)
      const find = (wanted: readonly string[]) =>
        wanted.flatMap((label) => own.filter(({ name }) => name === label))[0]
      const place = find(PLACES)
      const workload = find(WORKLOADS)
      if (place && !this.isOwn({ label: place.name, value: place.value }))
        this.add('runs_on', { label: place.name, value: place.value }, 'labels', `evt_${id}`)
      else if (isPlace && workload)
        this.add('runs', { label: workload.name, value: workload.value }, 'labels', `evt_${id}`)
    }
    return traces
  }

  /** Spans below those of another service. */
  calls(parts: readonly TracePart[]): void {
    const bySpan = new Map(
      parts.filter(({ length }) => length !== null).map((part) => [`${part.trace} ${part.span}`, part]),
    )
    for (const part of bySpan.values()) {
      const above = part.parent ? bySpan.get(`${part.trace} ${part.parent}`) : undefined
      const [callee, caller] = [serviceOf(part), above && serviceOf(above)]
      if (!callee || !caller || nameText(callee) === nameText(caller)) continue
      if (this.isOwn(caller)) this.add('calls', callee, 'traces', part.row.id)
      else if (this.isOwn(callee)) this.add('called_by', caller, 'traces', part.row.id)
    }
  }

  /** Most seen first, those that rules say before all; each with when it was last heard of, and its incidents. */
  told(span: { from: number; to: number }, ceiling: number): Edge[] {
    const order = (edge: Edge) => (edge.by === 'rules' ? Number.POSITIVE_INFINITY : edge.count)
    const listed = [...this.edges.values()].sort((a, b) => order(b) - order(a) || 0).slice(0, NEIGHBOURS)
    const incidents = this.ctx.db
      .prepare<[string, string], number>(
        "SELECT count(*) FROM incidents WHERE label = ? AND value_text = ? AND state <> 'handled'",
      )
      .pluck()
    return listed.map((edge) => {
      const names = this.rules.of(edge.label, edge.value)?.names ?? [edge]
      const plan = compilePlan(
        { selector: { [edge.label]: edge.value } },
        this.ctx.db,
        this.ctx.dictionary,
        this.ctx.names,
        this.rules,
      )
      const [last] = firstPositions(this.ctx.index.all(), queryOf(plan, span, ceiling), 'desc', 1, null)
      return {
        ...edge,
        last_seen: last ? iso(last.ts) : null,
        open_incidents: names.reduce((sum, name) => sum + (incidents.get(name.label, name.value) ?? 0), 0),
      }
    })
  }

  private isOwn({ label, value }: Name): boolean {
    return this.names.some((name) => name.label === label && name.value === value)
  }
}

function serviceOf({ row }: TracePart): Name | null {
  const { service } = row.labels
  return service === undefined || service === '' ? null : { label: 'service', value: String(service) }
}
