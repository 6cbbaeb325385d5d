/**
 * Sources (SPEC.md, Sources and labels) as the engine offers them: reads of their rows, and
 * what can be tried. The live ones that ingest uses, and how sources are written, are in source-kind.ts.
 *
 * Label drift is labels and entities that parts depend on and that do not come: of an edit before it is written, and of
 * what is stored.
 */
import { namesEntity } from '../../schemas/names-entity.ts'
import { didYouMean } from '../../schemas/near-names.ts'
import type {
  AgentSpec,
  DiscoverRequest,
  FieldsResult,
  Label,
  LabelsPreview,
  LabelsPreviewResult,
  Source,
  SourceProposal,
  SourceSpec,
  SourceTestResult,
  SourceWrite,
  TriggerSpec,
} from '../../schemas/types.ts'
import type { IngestRoute } from '../calls.ts'
import { fail } from '../errors.ts'
import { compileLabels, validateLabels } from '../log/ingest/label.ts'
import { parseItem } from '../log/ingest/split.ts'
import { acceptedBy } from '../log/lifecycle.ts'
import {
  type Doc,
  documentOf,
  type Edit,
  type Kinds,
  type PartKind,
  type Staged,
} from '../model/documents.ts'
import { wiringOf } from '../model/project.ts'
import { addressFaults } from '../net/secrets.ts'
import {
  addressesIn,
  checkNew,
  checkWrite,
  maskSecrets,
  refuseMask,
  resolveReferences,
  withCredential,
} from './config-secrets.ts'
import type { PushConnector } from './connectors/connector.ts'
import { connectorOf, hasConnector } from './connectors/index.ts'
import {
  type Coverage,
  coverageOf,
  driftOf,
  entityFaultOf,
  healthOf,
  type Need,
  needsOfAgent,
  needsOfSource,
  needsOfTrigger,
  ownLabelsOf,
  proposedLabels,
  refusedHealth,
  resolvedFaultOf,
} from './health.ts'
import type { LiveSource } from './live.ts'
import type { PollRow, SourceRow } from './queries.ts'
import { contextReader, coverFields, PROPOSED_FROM, previewLabel, proposalOf } from './sample.ts'
import { openSourceStore, type SourceStore, type SourcesParts } from './source-kind.ts'

export type { LiveSource } from './live.ts'

/** Whose a part is: the same for every kind. */
export interface Belonging {
  owned_by: string | null
  customized: boolean
  projects: string[]
}

type SourceDoing = Pick<Source, 'name' | 'connector' | 'mode' | 'health'>

/** Names may not be found, bodies may break a rule: every method may throw SvcError. */
export interface Sources {
  /** What their documents are stored with. */
  store: SourceStore
  /** By name, without those that are deleted; secrets masked. */
  list(belonging: (name: string) => Belonging): Source[]
  get(name: string, belonging: (name: string) => Belonging): Source
  /** How those of these names are doing, in that order; one that is not there is left out. */
  doing(names: readonly string[]): SourceDoing[]
  test(body: SourceWrite): { result: SourceTestResult } | { ask: ToAsk }
  discover(body: DiscoverRequest): ToAsk | { found: SourceProposal }
  previewLabel(body: LabelsPreview): LabelsPreviewResult
  fields(name: string, limit: number): FieldsResult
  routes(): IngestRoute[]
  byIngestKey(key: string): LiveSource | undefined
  byId(id: number): LiveSource | undefined
  /** @throws SvcError not_found */
  requireByName(name: string): LiveSource
  has(name: string): boolean
  /** In the order they were made. */
  live(): LiveSource[]
  /** Compiles them again, after a change is committed. */
  reload(): void
}

/** Loads the sources of a store. */
export function createSources(parts: SourcesParts): Sources {
  const store = openSourceStore(parts)
  const { live } = store
  const trials = new SourceTrials(store)
  return {
    store,
    list: (belonging) => {
      const storageReason = store.storageReason()
      const polls = store.polls.all()
      return store.queries
        .all()
        .map((row) => present(store, row, storageReason, polls.get(row.id), belonging))
    },
    get: (name, belonging) => {
      live.requireByName(name)
      const row = store.queries.byName(name)!
      return present(store, row, store.storageReason(), store.polls.find(row.id), belonging)
    },
    doing: (names) => {
      const storageReason = store.storageReason()
      return names.flatMap((name) => {
        const row = store.queries.byName(name)
        return row ? [presentDoing(store, row, storageReason, store.polls.find(row.id))] : []
      })
    },
    test: (body) => trials.test(body),
    discover: (body) => trials.discover(body),
    previewLabel: (body) => trials.previewLabel(body),
    fields: (name, limit) => trials.fields(name, limit),
    routes: () => live.routes(),
    byIngestKey: (key) => live.byIngestKey(key),
    byId: (id) => live.byId(id),
    requireByName: (name) => live.requireByName(name),
    has: (name) => live.has(name),
    live: () => live.all(),
    reload: () => live.reload(),
  }
}

function present(
  store: SourceStore,
  row: SourceRow,
  storageReason: string | null,
  poll: PollRow | undefined,
  belonging: (name: string) => Belonging,
): Source {
  const source = sourceOf(store, row)
  const { health, ...doing } = presentDoing(store, row, storageReason, poll)
  return {
    ...doing,
    type: source.connector.sourceType,
    poll: row.poll,
    config: maskSecrets(row.connector, source),
    state: row.state as Source['state'],
    paused: row.state === 'paused',
    accepts: acceptedBy('source', row.snapshot),
    ingest_key: row.ingest_key,
    signed: source.signature !== null,
    ...belonging(row.name),
    version: row.change_set,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
    health,
  }
}

const sourceOf = ({ live }: SourceStore, row: SourceRow): LiveSource =>
  live.byId(row.id) ?? fail('not_found', `no source is named ${row.name}`)

function presentDoing(
  store: SourceStore,
  row: SourceRow,
  storageReason: string | null,
  poll: PollRow | undefined,
): SourceDoing {
  const source = sourceOf(store, row)
  const { credentials, coverage } = store
  return {
    name: row.name,
    connector: row.connector,
    mode: source.connector.mode,
    health: healthOf(
      row,
      source,
      storageReason,
      poll,
      credentials,
      needsOfSource(row.name, { config: source.config }, proposedLabels(source.connector)).flatMap(
        (need) => driftOf(need, (name) => coverage.of(name, false)) ?? [],
      ),
    ),
  }
}

/*
 * What can be tried or looked at without changing a source: test, preview, fields. Where that asks an
 * upstream, what to ask it with is prepared here, and asked elsewhere.
 */

const SAMPLE_MAX = 2_000
const TEXTS_MAX = 3
/** Payloads given without a source are read as the connector for any JSON would. */
const SAMPLE_CONNECTOR = 'webhook'

/** What to ask an upstream with: secrets are in the clear, so it is not for doors. */
export interface ToAsk {
  connector: string
  config: Record<string, unknown>
  /** Of a source that is stored: what is answered with its config is masked. */
  isStored?: boolean
}

/** What of a webhook's config says how payloads are read; the rest says who may send. */
const mappingOf = (config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !name.startsWith('signature_')))

class SourceTrials {
  constructor(private readonly parts: SourceStore) {}

  /**
   * Tries a config before it is saved; of a source that exists, omitted secrets are its own.
   * @throws SvcError invalid for a fault in the config
   */
  test(body: SourceWrite): { result: SourceTestResult } | { ask: ToAsk } {
    const row = this.parts.queries.byName(body.name)
    const existing = row?.connector === body.connector ? row : undefined
    const config = existing
      ? checkWrite({ ...body, config: this.parts.configs.keep(existing, body.config ?? {}) })
      : checkNew(body)
    const connector = connectorOf(body.connector)
    if (connector.mode === 'push') {
      const path = existing?.ingest_key ? `/ingest/${existing.ingest_key}` : 'its ingest URL'
      return { result: { ok: true, events: 0, note: connector.note(path) } }
    }
    if (connector.mode === 'poll') {
      const resolved = this.resolve(body.connector, config)
      return typeof resolved === 'string' ? { result: { ok: false, error: resolved } } : { ask: resolved }
    }
    const documents = connector.documents(config)
    const sample = documents.slice(0, TEXTS_MAX).map((document) => document.text)
    return { result: { ok: true, events: documents.length, sample } }
  }

  /**
   * What to ask an upstream for a config with; of the source that is named, omitted secrets are its own. What comes
   * to a webhook is its upstream: a mapping is proposed from a sample, or from what the source received last.
   * @throws SvcError not_found for an unknown connector or source; invalid for one that does not discover
   */
  discover(body: DiscoverRequest): ToAsk | { found: SourceProposal } {
    if (!hasConnector(body.connector))
      fail('not_found', `connector ${body.connector} is not known`, { field: 'connector' })
    const connector = connectorOf(body.connector)
    if (connector.kind === SAMPLE_CONNECTOR && connector.mode === 'push')
      return { found: this.propose(connector, body) }
    if (!connector.discover)
      fail('invalid', `the ${body.connector} connector does not support discovery`, { field: 'connector' })
    const resolved = this.resolve(body.connector, this.given(body))
    if (typeof resolved === 'string') return fail('invalid', resolved, { field: 'config' })
    return { ...resolved, ...(body.name === undefined ? {} : { isStored: true }) }
  }

  /** @throws SvcError not_found; invalid: a fault in the config, or there is no payload */
  private propose(connector: PushConnector, body: DiscoverRequest): SourceProposal {
    const known = this.given(body)
    // A source that exists has its name already.
    checkNew({ name: 'proposed', connector: connector.kind, config: known })
    const live = body.name === undefined ? undefined : this.parts.live.requireByName(body.name)
    const events = body.sample
      ? body.sample.map((payload) => ({ raw: Buffer.from(JSON.stringify(payload)) }))
      : live
        ? this.parts.recent(live.id, PROPOSED_FROM)
        : []
    const config = mappingOf(live?.config ?? {})
    return proposalOf(
      {
        ...{ connector, events, config, known: mappingOf(known), isFixed: body.fixed === true },
        refused: live?.counters.refused ? refusedHealth(live.counters.refused) : null,
      },
      this.parts.clock.now(),
    )
  }

  /** The config that was given, with the secrets of the source it is for. Empty values stand for absent ones. */
  private given({ connector, config = {}, name }: DiscoverRequest): Record<string, unknown> {
    const row = name === undefined ? undefined : this.parts.queries.byName(name)
    if (name !== undefined && !row) {
      const near = didYouMean(
        name,
        this.parts.live.all().map((source) => source.name),
      )
      fail('not_found', `no source is named ${name}${near}`, { field: 'name' })
    }
    if (row && row.connector !== connector)
      fail('invalid', `name: ${name} is a ${row.connector} source`, { field: 'name' })
    if (!row) refuseMask(connector, config)
    const merged = row ? this.parts.configs.keep(row, config) : config
    return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== '' && value !== null))
  }

  /** @returns what to ask with, or a sentence that says what `${NAME}` or credential is not there. */
  private resolve(connector: string, config: Record<string, unknown>): ToAsk | string {
    const [wrong] = addressFaults(addressesIn(config))
    if (wrong) return `config.${wrong.field}: ${wrong.fault}`
    const { config: open, unresolved } = resolveReferences(connector, config, this.parts.env)
    if (unresolved[0]) return `${unresolved[0].field} refers to what is not there: ${unresolved[0].reason}`
    const used = withCredential(connector, open, this.parts.credentials)
    return typeof used === 'string' ? used : { connector, config: used }
  }

  /**
   * What a label would make of a sample, or of the newest payloads of a source.
   * @throws SvcError invalid for a fault in the label; not_found
   */
  previewLabel({ label: given, source, sample }: LabelsPreview): LabelsPreviewResult {
    const label = given as Label
    const faults = validateLabels([label])
    if (faults.length) fail('invalid', faults.join('; '), { field: 'label' })
    if (source === undefined) {
      const payloads = sample ?? fail('invalid', 'give source or sample', { field: 'source' })
      return previewLabel(label, payloads, contextReader(connectorOf(SAMPLE_CONNECTOR), {}))
    }
    const { id, connector, config } = this.parts.live.requireByName(source)
    const payloads = sample ?? this.parts.recent(id, SAMPLE_MAX).map((event) => parseItem(event.raw))
    return previewLabel(label, payloads, contextReader(connector, config))
  }

  /** @param limit events to look at, 1 to 2,000; clamped. @throws SvcError not_found */
  fields(name: string, limit: number): FieldsResult {
    const { id, connector, config } = this.parts.live.requireByName(name)
    const sample = Math.min(SAMPLE_MAX, Math.max(1, Math.trunc(limit)))
    return coverFields(connector, config, this.parts.recent(id, sample))
  }
}

/** Events whose payloads are read again where an edit changes the labels of their source. */
const READ_AGAIN = 100

/** What the rule looks at: documents as they are or would be, and what comes. */
interface World {
  all(kind: 'trigger' | 'project'): Iterable<[string, Doc]>
  find(kind: PartKind, name: string): Doc | undefined
  coverage(source: string): Coverage | null
}

export interface DriftParts {
  kinds: Kinds
  sources: Sources
}

/**
 * A sentence per label of a part that does not come, and per handoff of an agent that never happens: what a save warns of,
 * for as long as it holds. @param name of a part that is there.
 */
export function driftsOf(declared: DriftParts, kind: PartKind, name: string): string[] {
  const { kinds, sources } = declared
  const world: World = {
    all: (of) => kinds[of].list().map(({ key, doc }) => [key, doc]),
    find: (of, key) => kinds[of].find(key)?.doc,
    coverage: (source) => sources.store.coverage.of(source, false),
  }
  return [...found(kind, name, world), ...(kind === 'agent' ? deadHandoffs(name, world) : [])]
}

/**
 * Warnings of an edit: of each part it saves, changed or not, and of each trigger over a source whose labels
 * it changes.
 * @returns sentences that begin with the part.
 */
export function warningsOf(sources: Sources, edit: Edit, touched: readonly Staged[]): string[] {
  const edited = new Map<string, Coverage | null>()
  for (const { kind, key, stored, doc } of touched)
    if (kind === 'source' && stored && doc && labelText(stored.doc) !== labelText(doc))
      edited.set(key, readAgain(sources, stored.was ?? key, stored.doc, doc))
  const world: World = {
    all: (kind) => edit.all(kind),
    find: (kind, name) => edit.get(kind, name),
    coverage: (source) =>
      edited.has(source) ? edited.get(source)! : sources.store.coverage.of(source, true),
  }
  const parts = new Map<string, [PartKind, string]>()
  for (const { kind, key, doc } of touched)
    if (doc && (kind === 'source' || kind === 'trigger' || kind === 'agent'))
      parts.set(`${kind} ${key}`, [kind, key])
  if (edited.size)
    for (const [key, doc] of edit.all('trigger'))
      if (doc.sources.some((source) => edited.has(source))) parts.set(`trigger ${key}`, ['trigger', key])
  const drifts = [...parts].flatMap(([title, [kind, key]]) =>
    found(kind, key, world).map((drift) => `${title}: ${drift}`),
  )
  // Who hands over is looked at with its own edit, and with that of a project that wires it anew: any part that is made in a
  // project edits that.
  const handing = touched.flatMap(({ kind, key, stored, doc }) =>
    doc && kind === 'project'
      ? handedAnew(wiringIn(doc), stored ? wiringIn(stored.doc) : null)
      : doc && kind === 'agent'
        ? [key]
        : [],
  )
  const dead = [...new Set(handing)].flatMap((agent) =>
    deadHandoffs(agent, world).map((sentence) => `agent ${agent}: ${sentence}`),
  )
  return [...drifts, ...dead]
}

/** Agents with handoffs that were not there before. */
function handedAnew(
  { handoffs }: ReturnType<typeof wiringIn>,
  before: ReturnType<typeof wiringIn> | null,
): string[] {
  const known = new Set(before?.handoffs.map((one) => JSON.stringify(one)))
  return handoffs.filter((one) => !known.has(JSON.stringify(one))).map(({ agent }) => agent)
}

const wiringIn = (project: Doc) => wiringOf(documentOf('project', project))

function found(kind: PartKind, name: string, world: World): string[] {
  const doc = world.find(kind, name)
  if (!doc) return []
  const sourceOf = (source: string) => (world.find('source', source) ?? {}) as Partial<SourceSpec>
  const declared = (source: string) => labelsOf(sourceOf(source))
  const driftsOfAll = (needs: Need[]) =>
    needs.flatMap((need) => driftOf(need, world.coverage, declared) ?? [])
  if (kind !== 'trigger') return driftsOfAll(needsOf(kind, name, doc, world))
  const trigger = documentOf('trigger', doc)
  const fault = entityFaultOf(trigger, world.coverage, (source) => namesEntity(sourceOf(source)))
  const resolved = resolvedFaultOf(trigger, sourceOf)
  const own = (source: string) => ownLabelsOf(sourceOf(source))
  const drifts = needsOfTrigger(trigger).flatMap((need) => driftOf(need, world.coverage, declared, own) ?? [])
  return [...drifts, ...[fault, resolved].filter((one) => one !== null)]
}

function needsOf(kind: PartKind, name: string, doc: Doc, world: World): Need[] {
  if (kind === 'source') return needsOfSource(name, doc, proposedLabels(connectorOf(String(doc.connector))))
  if (kind !== 'agent' || !(doc as Partial<AgentSpec>).webhook_key_label) return []
  const sources = new Set<string>()
  for (const [, project] of world.all('project'))
    for (const { agent, trigger } of wiringIn(project).wakes)
      if (agent === name)
        for (const source of (world.find('trigger', trigger) as TriggerSpec | undefined)?.sources ?? [])
          sources.add(source)
  return needsOfAgent(doc as Partial<AgentSpec>, [...sources])
}

/** Handoffs on a verdict that the agent can never give: it lists others. @returns a sentence for each */
function deadHandoffs(name: string, world: World): string[] {
  const { verdicts = [] } = (world.find('agent', name) ?? {}) as Partial<AgentSpec>
  if (verdicts.length === 0) return []
  const known = verdicts.map(({ verdict }) => verdict)
  const dead = new Set<string>()
  for (const [, project] of world.all('project'))
    for (const { agent, verdict, to } of wiringIn(project).handoffs)
      if (agent === name && !known.includes(verdict))
        dead.add(`it never hands over to ${to}, for ${verdict} is none of its verdicts: ${known.join(', ')}`)
  return [...dead]
}

const labelsOf = (doc: Pick<Doc, 'config'> | Partial<SourceSpec>): Label[] =>
  (doc.config as { labels?: Label[] } | undefined)?.labels ?? []
const labelText = (doc: Doc): string => JSON.stringify(labelsOf(doc))

/** Recent events as they would be with the labels of an edited source. */
function readAgain(sources: Sources, name: string, before: Doc, after: Doc): Coverage | null {
  const { live, recent } = sources.store
  const source = live.requireByName(name)
  if (source.connector.mode === 'reference') return null
  const contextOf = contextReader(connectorOf(source.connector.kind), {
    ...(after.config as Record<string, unknown> | undefined),
  })
  const resolve = compileLabels(labelsOf(after))
  const declared = new Set(labelsOf(before).map((label) => label.name))
  return coverageOf(
    recent(source.id, READ_AGAIN).map(({ raw, labels, entity }) => {
      const { strings, numbers, hasEntity } = resolve(contextOf(parseItem(raw)))
      // Headers are not stored, so that a label of one is known by the event alone.
      const kept = Object.keys(labels).filter((label) => !declared.has(label) || isOfHeader(after, label))
      const own = hasEntity ? strings[0]![0] : undefined
      return {
        labels: [...strings.map(([label]) => label), ...Object.keys(numbers ?? {}), ...kept],
        numbers: [
          ...Object.keys(numbers ?? {}),
          ...kept.filter((label) => typeof labels[label] === 'number'),
        ],
        entity: own ?? kept.find((label) => label === entity?.label),
      }
    }),
  )
}

const isOfHeader = (doc: Doc, name: string): boolean =>
  labelsOf(doc).some((label) => label.name === name && 'field' in label && label.field.startsWith('header.'))
