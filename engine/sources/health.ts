/** How a source is doing, and why (SPEC.md, Storage: a refusal shows on the source's health). */

import { ofAlerts, saysState } from '../../schemas/alert-words.ts'
import type { AgentSpec, Filter, Label, SourceHealth, SourceSpec, TriggerSpec } from '../../schemas/types.ts'
import { isSchedule } from '../../schemas/words.ts'
import type { SourceCounters } from '../log/figures.ts'
import { tooLongHealth } from '../log/ingest/label.ts'
import { skewedHealth, untimedHealth } from '../log/ingest/time.ts'
import type { CredentialLookup } from '../model/credentials.ts'
import { isoOrNull } from '../model/units.ts'
import { withCredential } from './config-secrets.ts'
import { ENTITY_SHARE } from './connectors/connector.ts'
import { readerHealth } from './connectors/preset.ts'
import { LOOKS_MAX } from './connectors/webhook.ts'
import type { LiveSource } from './live.ts'
import type { PollRow, SourceQueries, SourceRow } from './queries.ts'

/**
 * @param storageReason why ingest is refused for want of storage, or null.
 * @param poll where a source that is polled stands. @param drift labels of it that do not come, in sentences.
 */
export function healthOf(
  row: SourceRow,
  live: LiveSource,
  storageReason: string | null,
  poll: PollRow | undefined,
  credentials: CredentialLookup,
  drift: readonly string[] = [],
): SourceHealth {
  const [status, reason] = statusOf(row, live, storageReason, poll, credentials)
  const drifts = drift.map((sentence) => `Its ${sentence}.`)
  const { skewed, untimed, refused, tooLong, reader } = live.counters
  const times = [...(skewed ? [skewedHealth(skewed)] : []), ...(untimed ? [untimedHealth(untimed)] : [])]
  const bodies = refused ? [refusedHealth(refused)] : []
  const long = tooLong ? [tooLongHealth(tooLong)] : []
  // One of many payloads that has another form, such as the notification among values, says nothing of the others.
  const isMost = reader && reader.count * 2 >= Math.min(LOOKS_MAX, live.counters.events)
  const better = isMost ? [readerHealth(reader.sample, row.name)] : []
  const notices = [poll?.restarted, poll?.notice, ...bodies, ...times, ...long, ...better, ...drifts].filter(
    (notice) => typeof notice === 'string',
  )
  return {
    status,
    reason,
    last_poll_at: isoOrNull(poll?.last_poll_at),
    last_ok_at: isoOrNull(poll?.last_ok_at),
    next_poll_at: poll && row.state === 'active' ? isoOrNull(poll.next_at) : null,
    last_error: status === 'error' || status === 'refused' ? reason : null,
    consecutive_errors: poll?.consecutive_errors ?? 0,
    notice: notices.length ? notices.join(' ') : null,
    polls: live.counters.polls,
    events_since_start: live.counters.events,
    events_total: row.events,
    last_ingest: isoOrNull(row.last_ingest),
    rejected: live.counters.rejected,
  }
}

/** That bodies were refused, or items of them, and why the first. */
export function refusedHealth({ count, sample }: NonNullable<SourceCounters['refused']>): string {
  const [said, which] = count === 1 ? ['1 body was', ''] : [`${count} bodies were`, ' the first']
  return `${said} refused, whole or in part,${which} because ${sample}.`
}

function statusOf(
  row: SourceRow,
  live: LiveSource,
  storageReason: string | null,
  poll: PollRow | undefined,
  credentials: CredentialLookup,
): [SourceHealth['status'], string | null] {
  const { mode } = live.connector
  if (row.state === 'paused') return ['paused', PAUSED[mode]]
  if (mode === 'reference') return ['ok', null]
  if (storageReason) return ['refused', storageReason]
  if (mode === 'poll') return statusOfPolls(live, poll, credentials)
  const faults = [
    ...(live.unreadable.includes('signature_secret')
      ? ['its signing secret cannot be read here, so it refuses everything; enter the secret again']
      : []),
    ...live.unresolved.map(
      ({ field, reason }) => `its ${field} refers to what is not there, so it refuses everything: ${reason}`,
    ),
  ]
  if (faults.length > 0) return ['error', faults.join('; ')]
  if (live.signature && live.signature.secrets.length === 0)
    return [
      'error',
      'it checks signatures but has no signing secret, so it refuses everything; enter the secret',
    ]
  return ['push', null]
}

const PAUSED = {
  push: 'paused; resume it to ingest',
  poll: 'paused; resume it to poll, from where it stopped',
  reference: 'paused; its documents stay as they are until it is resumed',
} as const

function statusOfPolls(
  live: LiveSource,
  poll: PollRow | undefined,
  credentials: CredentialLookup,
): [SourceHealth['status'], string | null] {
  const fault = faultOfSecrets(live, credentials)
  if (fault !== null) return ['error', fault]
  if (!poll || poll.last_poll_at === null) return ['starting', null]
  return poll.last_error === null ? ['ok', null] : ['error', poll.last_error]
}

/** Why a source cannot be polled for want of a secret; null: it can. */
export function faultOfSecrets(
  { unreadable, unresolved, connector, config }: LiveSource,
  credentials: CredentialLookup,
): string | null {
  const faults = [
    ...unreadable.map((field) => `its ${field} cannot be read here, so it is not polled; enter it again`),
    ...unresolved.map(
      ({ field, reason }) => `its ${field} refers to what is not there, so it is not polled: ${reason}`,
    ),
  ]
  if (faults.length > 0) return faults.join('; ')
  const found = withCredential(connector.kind, config, credentials)
  return typeof found === 'string' ? `it is not polled: ${found}` : null
}

/*
 * Label drift, the one rule: a label that a part depends on and that the last events of its sources do not
 * carry. Saves, plans, health and graphs all ask here, so that they say the same.
 */

/**
 * What is wrong with one label; null where it is there, or nothing came yet that could lack it.
 * @param declared labels of a source, which say what a label is before an event does
 * @param own as `ownLabelsOf`: they say that it will not be there; absent: only events do
 */
export function driftOf(
  need: Need,
  coverage: (source: string) => Coverage | null,
  declared: (source: string) => readonly Label[] = () => [],
  own: (source: string) => readonly string[] | null = () => null,
): string | null {
  const { field, label, sources, isEntity, isProposed } = need
  const found = sources.flatMap((source) => coverage(source) ?? [])
  const sampled = sum(found, (one) => one.sampled)
  if (need.isHidden) return hiddenFaultOf(need, found, declared)
  const kind = kindFaultOf(need, coverage, declared)
  if (kind !== null) return `${field} names label ${label}, ${kind}`
  if (sampled === 0) return undeclaredOf(need, own)
  const carried = sum(found, ({ counts }) => counts.get(label) ?? 0)
  // Of what lacks it a connector may take another label: that is on a timeline, and wakes.
  const elsewhere = isEntity ? sum(found, (one) => elsewhereOf(one, label)) : 0
  const isMost = (carried + elsewhere) / sampled >= ENTITY_SHARE
  const of = `the last ${sampled} events of ${listed(sources)}`
  const names = `${field} names label ${label}`
  if (carried === 0) {
    const lacks =
      sampled === 1 ? `which the only event of ${listed(sources)} lacks` : `which is on none of ${of}`
    return isProposed && isMost ? null : `${names}, ${lacks}`
  }
  if (found.every((one) => hasStopped(one, label)))
    return `${names}, which none of the last ${STOPPED_AFTER} events of ${listed(sources)} has, though most before had it`
  if (!isEntity || isMost) return null
  const others = elsewhere === 0 ? 'the others' : `${sampled - carried - elsewhere} of the others`
  return `${names}, the entity, which is on ${carried} of ${of}; ${others} are on no timeline and wake nobody`
}

/** Labels of a webhook that no config names: of deliveries of GitHub, and of a sender that is known by a header. */
const STAMPED = new Set(['repository', 'actor', 'number', 'action', 'key', 'sender'])

/** Whether sources whose labels are known have a label, before anything came. */
export const isOwnLabel = (label: string, known: readonly string[]): boolean =>
  known.includes(label) || STAMPED.has(label)

/** The labels of a source where they are those of its config alone; null: its connector or its sender brings others. */
export function ownLabelsOf({
  connector,
  config,
}: {
  connector?: unknown
  config?: unknown
}): string[] | null {
  const { labels, preset } = (config ?? {}) as { labels?: unknown; preset?: unknown }
  const isOwn = connector === 'http_poll' || (connector === 'webhook' && preset === undefined)
  if (!isOwn || !Array.isArray(labels)) return null
  const names = labels.flatMap((label: { name?: unknown } | null) =>
    typeof label?.name === 'string' ? label.name : [],
  )
  return names.length > 0 ? names : null
}

/** That no source will have a label, by what is declared; null: one has it, or what they will have is not known. */
function undeclaredOf(
  { field, label, sources }: Need,
  own: (source: string) => readonly string[] | null,
): string | null {
  const each = sources.map(own)
  const known = [...new Set(each.flatMap((labels) => labels ?? []))]
  if (each.length === 0 || each.includes(null) || isOwnLabel(label, known)) return null
  return `${field} names label ${label}, which ${listed(sources)} will not have: the labels there are ${listed(known)}`
}

/** That a label cannot be asked for, since its name stands for the source; null: there is no such label. */
function hiddenFaultOf(
  { field, label, sources }: Need,
  found: readonly Coverage[],
  declared: (source: string) => readonly Label[],
): string | null {
  const isLabel =
    found.some(({ counts }) => counts.has(label)) ||
    sources.some((source) => declared(source).some(({ name }) => name === label))
  return isLabel
    ? `${field} names ${label}, which is the source that an event came to, and not the label ${label} of ${listed(sources)}: give that label another name`
    : null
}

/** That a label is a number where a text is asked for, or the other way round; null: it is not, or not known of each source. */
function kindFaultOf(
  { label, sources, wants, why = '' }: Need,
  coverage: (source: string) => Coverage | null,
  declared: (source: string) => readonly Label[],
): string | null {
  if (wants === undefined) return null
  const isNumber = sources.flatMap((source): boolean[] => {
    const one = coverage(source)
    const [count, numbers] = [one?.counts.get(label) ?? 0, one?.numbers.get(label) ?? 0]
    if (count > 0) return numbers === 0 ? [false] : numbers === count ? [true] : [true, false]
    return declared(source).flatMap(({ name, type }) => (name === label ? [type === 'number'] : []))
  })
  if (isNumber.length === 0 || !isNumber.every((one) => one === (wants === 'text'))) return null
  const is = wants === 'text' ? 'a number label' : 'a text label'
  return `which is ${is} of ${listed(sources)}: ${why}`
}

/**
 * Why a trigger that fires for each entity cannot fire; null where its events have one. It is silent otherwise: its
 * condition holds for nobody, and no event says so but by its why.
 * @param namesEntity whether events of a source that sent nothing yet will have an entity
 */
export function entityFaultOf(
  { sources, key_field: key, condition }: TriggerSpec,
  coverage: (source: string) => Coverage | null,
  namesEntity: (source: string) => boolean,
): string | null {
  const groups = 'group_by' in condition ? (condition.group_by ?? []) : []
  if (key || isSchedule(condition) || (groups.length > 0 && !groups.includes('key_value'))) return null
  const found = sources.flatMap((source) => coverage(source) ?? [])
  const sampled = sum(found, (one) => one.sampled)
  if (sum(found, ({ entities }) => [...entities.values()].reduce((total, n) => total + n, 0)) > 0) return null
  const way = 'mark a label of the source as its entity key, or group by a label'
  if (sampled > 0) {
    const lack = sampled === 1 ? 'the only event' : `none of the last ${sampled} events`
    return `${lack} of ${listed(sources)} has ${sampled === 1 ? 'no' : 'an'} entity, so it cannot fire: ${way}`
  }
  return sources.some(namesEntity)
    ? null
    : `no label of ${listed(sources)} is marked as entity key, so it cannot fire: ${way}`
}

/**
 * That a trigger over alerts counts each a second time, when it is over: agents would be woken for what is well again.
 * null: it does not, or a filter says which are meant.
 */
export function resolvedFaultOf(
  { sources, filters = [], condition }: TriggerSpec,
  sourceOf: (source: string) => Partial<SourceSpec>,
): string | null {
  const isOfEach =
    'event' in condition || ('aggregate' in condition && /^(count|rate)$/.test(condition.aggregate))
  // What says that an alert is over trips nothing.
  if (!isOfEach || ('event' in condition && condition.resolve)) return null
  const of = sources.flatMap((source) => {
    const { connector, config } = sourceOf(source)
    const alerts = ofAlerts(connector, config)
    return alerts && !saysState(alerts, filters) ? [{ source, filter: alerts.filter }] : []
  })
  const [first] = of
  if (!first) return null
  const { field, op, value } = first.filter
  const meant = `${field} ${op} ${[value].flat().join(', ')}`
  const both = field === 'status' ? ', or status in firing, resolved where both are meant' : ''
  const names = listed(of.map(({ source }) => source))
  return `an alert of ${of.length === 1 ? 'source' : 'sources'} ${names} trips it again when it is resolved: filter on ${meant}${both}`
}

const sum = (found: readonly Coverage[], of: (one: Coverage) => number): number =>
  found.reduce((total, one) => total + of(one), 0)

const elsewhereOf = ({ entities }: Coverage, label: string): number =>
  [...entities].reduce((total, [entity, count]) => total + (entity === label ? 0 : count), 0)

function hasStopped({ sampled, counts, newest }: Coverage, label: string): boolean {
  const before = sampled - STOPPED_AFTER
  return before >= STOPPED_AFTER && !newest.has(label) && (counts.get(label) ?? 0) > before / 2
}

const NAMED = 3
const listed = (names: readonly string[]): string =>
  names.length > NAMED
    ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`
    : names.join(', ')

/* How many of the last events of a source carry each label. */

/** One event: the names of its labels. */
export interface Carried {
  labels: readonly string[]
  /** Those of them that are numbers. */
  numbers?: readonly string[]
  /** Which of them is its entity: the primary one, or what its connector takes in its place. */
  entity?: string | undefined
}

export interface Coverage {
  /** Events looked at. */
  sampled: number
  counts: ReadonlyMap<string, number>
  /** Of these, where the label is a number. */
  numbers: ReadonlyMap<string, number>
  /** Events by the label that is their entity. */
  entities: ReadonlyMap<string, number>
  /** Labels of the newest events, as many as STOPPED_AFTER. */
  newest: ReadonlySet<string>
}

/** Events looked at, the newest of a source. */
const LOOKED_AT = 500
/** A label that most events had and so many of the newest lack was renamed or dropped. */
export const STOPPED_AFTER = 20

/** @param events newest first. @returns null where there is none: nothing is known then. */
export function coverageOf(events: readonly Carried[]): Coverage | null {
  if (events.length === 0) return null
  const counts = new Map<string, number>()
  const entities = new Map<string, number>()
  const numbers = new Map<string, number>()
  const count = (map: Map<string, number>, label: string) => map.set(label, (map.get(label) ?? 0) + 1)
  for (const { labels, numbers: ofNumbers = [], entity } of events) {
    for (const label of new Set(labels)) count(counts, label)
    for (const label of new Set(ofNumbers)) count(numbers, label)
    if (entity !== undefined) count(entities, entity)
  }
  const newest = new Set(events.slice(0, STOPPED_AFTER).flatMap(({ labels }) => labels))
  return { sampled: events.length, counts, numbers, entities, newest }
}

/* Which labels a declared part depends on, each with the field that says so. */

export interface Need {
  /** Path in the part's document, such as filters[0].field. */
  field: string
  label: string
  /** Sources any of which is enough to have it. */
  sources: readonly string[]
  /** The entity is needed on most events; any other label on some. */
  isEntity: boolean
  /** The connector names it by itself, so that nobody meant more by it than that there is an entity. */
  isProposed?: boolean
  /** What it must be; absent: either. */
  wants?: 'text' | 'number'
  /** Why, and what comes of the other. */
  why?: string
  /** The name stands for something else there: that it is a label, too, is the fault. */
  isHidden?: boolean
}

/** Fields of filters and groups that are no labels, or any. */
const NO_LABELS = new Set(['event_type', 'key_value', 'source', 'text'])
const isLabel = (field: string): boolean => !NO_LABELS.has(field) && !field.startsWith('payload.')
/** In filters and groups it is the source that an event came to, also where events have a label of that name. */
const SOURCE = 'source'

/** The primary label. @param proposed labels of the connector where none are given. */
export function needsOfSource(
  name: string,
  { config = {} }: Partial<SourceSpec>,
  proposed: readonly Label[] = [],
): Need[] {
  const labels = ((config as { labels?: Label[] }).labels ?? []).map((label, i) => ({ label, i }))
  const isProposed = (label: Label): boolean =>
    proposed.some((one) => one.name === label.name && fieldOf(one) === fieldOf(label))
  return labels
    .filter(({ label }) => label.primary)
    .map(({ label, i }) => ({
      field: `config.labels[${i}]`,
      label: label.name,
      sources: [name],
      isEntity: true,
      isProposed: isProposed(label),
    }))
}

/** Labels that a connector names by itself. */
export const proposedLabels = (connector: { mode: string }): readonly Label[] =>
  (connector as { labels?: Label[] }).labels ?? []

const fieldOf = (label: Label): unknown => ('field' in label ? label.field : undefined)

type Named = [field: string, label: string, kind?: Pick<Need, 'wants' | 'why'>]

/** Labels that filters compare, that it groups and keys by, and that it aggregates. */
export function needsOfTrigger({ sources, filters = [], key_field: key, condition }: TriggerSpec): Need[] {
  const named: Named[] = [
    ...ofFilters(filters, 'filters'),
    ...(key ? [['key_field', key, OF_KEY] satisfies Named] : []),
  ]
  if ('group_by' in condition)
    for (const [i, label] of (condition.group_by ?? []).entries())
      named.push([`condition.group_by[${i}]`, label, OF_KEY])
  if ('field' in condition && typeof condition.field === 'string') {
    const { aggregate } = condition
    const why = `${aggregate} takes numbers alone, so that no event counts`
    named.push(['condition.field', condition.field, aggregate === 'distinct' ? {} : { wants: 'number', why }])
  }
  if ('sequence' in condition)
    for (const [i, step] of condition.sequence.entries())
      named.push(...ofFilters(step.filters, `condition.sequence[${i}].filters`))
  if ('event' in condition && condition.resolve) {
    const { filters: ends, equal = [] } = condition.resolve
    named.push(...ofFilters(ends, 'condition.resolve.filters'))
    named.push(...equal.map((label, i): Named => [`condition.resolve.equal[${i}]`, label]))
  }
  const steps = 'sequence' in condition ? condition.sequence : []
  const isAsked = [...filters, ...steps.flatMap((step) => step.filters)].some(
    (filter) => filter.field === SOURCE && namesOne(filter.value, sources),
  )
  const isHidden = ([field, label]: Named): boolean => label === SOURCE && field !== 'key_field' && !isAsked
  return named
    .filter((one) => isLabel(one[1]) || isHidden(one))
    .map((one) => {
      const [field, label, kind] = one
      return { field, label, sources, isEntity: false, ...(isHidden(one) ? { isHidden: true } : kind) }
    })
}

/** Whether a filter asks for one of these sources by name: it means no label. */
const namesOne = (value: Filter['value'], sources: readonly string[]): boolean =>
  [value].flat().some((one) => sources.includes(String(one)))

const OF_KEY = { wants: 'text', why: 'a key is made of text labels alone, so that it never fires' } as const

/** That a label is missing is what `exists: false` asks for. */
function ofFilters(filters: readonly Filter[], at: string): [string, string][] {
  return filters.flatMap(({ field, op, value }, i): [string, string][] =>
    op === 'exists' && String(value) === 'false' ? [] : [[`${at}[${i}].field`, field]],
  )
}

/** The label its write-back is keyed by. @param sources of the triggers that wake it. */
export function needsOfAgent(
  { webhook_key_label: label }: Partial<AgentSpec>,
  sources: readonly string[],
): Need[] {
  return label ? [{ field: 'webhook_key_label', label, sources, isEntity: false }] : []
}

/* Coverage of live sources, remembered until new events come: what is looked at often must cost little. */

/** What a page shows that asks every few seconds may be this old. */
const STALE_MS = 15_000
/** What is only shown is read for so many sources a second: an instance may have thousands. */
const SHOWN_PER_SECOND = 5

interface Known {
  coverage: Coverage | null
  events: number
  at: number
}

interface CoverageParts {
  queries: Pick<SourceQueries, 'byName'>
  /** Newest events of a source. */
  carried(sourceId: number, limit: number): Carried[]
  clock: { now(): number }
}

export class CoverageReader {
  private readonly known = new Map<number, Known>()
  /** Reads for what is shown, in this second. */
  private shown = { second: 0, count: 0 }

  constructor(private readonly parts: CoverageParts) {}

  /**
   * @param fresh of the events as they are now; else as they were some seconds ago.
   * @returns null where the source is not there or has no events.
   */
  of(name: string, fresh: boolean): Coverage | null {
    const row = this.parts.queries.byName(name)
    if (!row) return null
    const now = this.parts.clock.now()
    const known = this.known.get(row.id)
    if (known && (known.events === row.events || (!fresh && now - known.at < STALE_MS))) return known.coverage
    if (!fresh && row.events > 0 && !this.mayShow(now)) return known?.coverage ?? null
    const coverage = row.events === 0 ? null : coverageOf(this.parts.carried(row.id, LOOKED_AT))
    this.known.set(row.id, { coverage, events: row.events, at: now })
    return coverage
  }

  private mayShow(now: number): boolean {
    const second = Math.floor(now / 1_000)
    if (this.shown.second !== second) this.shown = { second, count: 0 }
    return ++this.shown.count <= SHOWN_PER_SECOND
  }
}
