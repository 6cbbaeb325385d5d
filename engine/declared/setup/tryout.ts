/**
 * Trying a project that is set up: its example event is sent, and whoever looks first looks once at the
 * newest event. Both are marked practice: nothing else is woken, and nothing is posted outside by the
 * service's own agents.
 */
import { randomBytes } from 'node:crypto'
import { ownField } from '../../../schemas/fields-of.ts'
import type {
  IngestResult,
  Plan,
  PracticeStarted,
  SetupChecks,
  SetupConnect,
  SetupConnectSource,
  TestEventSent,
} from '../../../schemas/types.ts'
import { isSchedule } from '../../../schemas/words.ts'
import { countTools } from '../../agents/mcp-pins.ts'
import type { Caller, IngestCall, Row } from '../../calls.ts'
import { fail, SvcError } from '../../errors.ts'
import type { ProjectDoc } from '../../model/project.ts'
import { maskAddresses } from '../../net/address-secrets.ts'
import type { Cause, PracticeOf } from '../../triggers/firing-writer.ts'
import type { TriggerDefinition } from '../../triggers/types.ts'
import type { Declared } from '../declared.ts'
import { belongings } from '../operations.ts'
import { setupQueries } from '../projects/follow.ts'
import { type OfSetup, requireSetup } from './drafts.ts'
import { completeSample } from './plan.ts'

/** Newest events of a source that are looked at for one of an entity. */
const LOOKED_AT = 50
/** The connector whose producers find it by its protocol. */
const EXPORTED = 'otlp'

export interface TryoutParts {
  declared: Declared
  /** The way in. */
  accept(call: IngestCall & { practice: true }): IngestResult | SvcError
  /** Newest events of a source, newest first. @throws SvcError not_found */
  newest(source: string, limit: number): Row[]
  /** How a trigger is evaluated now; inside a transaction. */
  definition(name: string): TriggerDefinition | undefined
  /** Fires in practice; inside a transaction. */
  practise(
    definition: TriggerDefinition,
    cause: Cause,
    of: PracticeOf,
  ): { dispatchId: string; recipients: number; runId: string | null }
}

/**
 * Sends the plan's example event into a source that events are sent to.
 * @throws SvcError not_found; wrong_state for a draft; invalid for a source that is asked; storage_full
 */
export function sendTestEvent(
  { declared, accept }: TryoutParts,
  word: string,
  source: string,
  caller: Caller,
): TestEventSent {
  const { doc, row } = requireSetUp(declared, word)
  if (!doc.uses.source?.[source])
    fail('not_found', `project ${doc.name} has no source named ${source}`, { field: 'source' })
  const { connector, config, ingestKey } = declared.sources.requireByName(source)
  if (connector.mode !== 'push' || connector.internal)
    fail('invalid', `source: ${source} is a ${connector.kind} source, which events are not sent to`, {
      field: 'source',
    })
  const { watches } = JSON.parse(row.plan!) as Plan
  const planned = watches.find(({ name }) => name === source)?.sample
  // An export is not sent to an ingest URL.
  if (!planned && connector.kind === EXPORTED)
    fail('invalid', `source: the plan has no example event for ${source}`, { field: 'source' })
  const of = { connector: connector.kind, config }
  const sample = completeSample(planned ?? null, of, declared.clock.now())
  const stored = accept({
    ingestKey,
    body: Buffer.from(JSON.stringify(sample)),
    bypassCooldown: false,
    caller: caller.id,
    practice: true,
  })
  if (stored instanceof SvcError) throw stored
  return { ok: true, ingested: stored.ingested, ids: stored.ids ?? [] }
}

/**
 * Has whoever looks first look at the newest event.
 * @throws SvcError not_found; wrong_state for a draft; conflict when there is nothing to practise on
 */
export function startPractice(parts: TryoutParts, word: string): PracticeStarted {
  const { declared } = parts
  const { store, clock } = declared
  return store.tx(() => {
    const of = requireSetUp(declared, word)
    const { trigger, agent } = firstLook(of)
    const definition =
      parts.definition(trigger) ?? fail('conflict', `trigger ${trigger} is no longer there to practise with`)
    const at = clock.now()
    const cause = causeOf(definition, eventFor(parts, definition), at)
    const { dispatchId, recipients, runId } = parts.practise(definition, cause, { project: of.id, agent })
    if (agent === null && recipients === 0)
      fail('conflict', 'your agent has not subscribed to this project yet, so nobody would be told')
    setupQueries(store.db).practised(of.id, at, runId, dispatchId)
    if (agent === null) return { dispatch_id: dispatchId, delivered: recipients, subscribers: recipients }
    return { run_id: runId ?? fail('conflict', `agent ${agent} is no longer there`), dispatch_id: dispatchId }
  })
}

/**
 * Whether a finding answers a practice firing, and so is practice: the first by the key of the person's
 * own agent within ten minutes.
 */
export function answersPractice(declared: Declared, project: string, writer: string): boolean {
  const row = setupQueries(declared.store.db).byId(project)
  if (!row?.practised_at || row.practice_found !== null || row.own_key === null) return false
  const key = declared.keys.list().find(({ id }) => id === row.own_key)
  return key?.name === writer && declared.clock.now() - row.practised_at <= ANSWER_MS
}

const ANSWER_MS = 600_000

function requireSetUp(declared: Declared, word: string): OfSetup {
  const found = requireSetup(declared, word)
  if (found.doc.draft)
    fail('wrong_state', `project ${found.doc.name} is a draft; apply its plan first`, {
      state: 'draft',
      accepts: ['apply'],
    })
  return found
}

/** The trigger to fire, and who it wakes; null: the person's own agent. As the project is wired now. */
function firstLook({ doc, row }: OfSetup): { trigger: string; agent: string | null } {
  if (row.own_key !== null) {
    const [trigger] = Object.keys(doc.uses.trigger ?? {}).sort()
    return { trigger: trigger ?? nothingToPractise(doc), agent: null }
  }
  const planned = JSON.parse(row.plan!) as Plan
  const first = planned.agents.find(({ name, trigger }) => doc.wakes?.[trigger]?.[name])
  if (first) return { trigger: first.trigger, agent: first.name }
  const [trigger, agents] = Object.entries(doc.wakes ?? {}).find(([, of]) => Object.keys(of).length) ?? []
  return trigger && agents ? { trigger, agent: Object.keys(agents)[0]! } : nothingToPractise(doc)
}

const nothingToPractise = ({ name }: ProjectDoc): never =>
  fail('conflict', `there is nothing to practise: no trigger of project ${name} wakes an agent`)

/** The newest event that the trigger could be about. @throws SvcError conflict when there is none */
function eventFor(parts: TryoutParts, definition: TriggerDefinition): Row {
  const { spec, name } = definition
  const isWanted = (row: Row) => isSchedule(spec.condition) || entityOf(definition, row) !== null
  const came = spec.sources.map((source) => parts.newest(source, LOOKED_AT))
  const newest = came
    .flatMap((events) => events.filter(isWanted).slice(0, 1))
    .sort((a, b) => rowId(b) - rowId(a))
  if (newest[0]) return newest[0]
  const sources = spec.sources.join(' and ')
  const needed = `which trigger ${name} needs`
  const lacks = (what: string): never => fail('conflict', `there is nothing to practise on: ${what}`)
  if (came.every((events) => events.length === 0))
    return lacks(`no event of ${sources} has come yet; send a test event first`)
  const label = spec.key_field || definition.entityLabel
  return label
    ? lacks(`no event of ${sources} has the label ${label} yet, ${needed}; send a test event first`)
    : lacks(`no label of ${sources} is marked as entity key, ${needed}; mark one on the page of the source`)
}

/** What an event is about, as the trigger counts it: the label it names, else the entity that the event has itself. */
function entityOf({ spec }: TriggerDefinition, { labels, entity }: Row): Row['entity'] {
  if (!spec.key_field) return entity
  const value = ownField(labels, spec.key_field)
  return value === undefined ? null : { label: spec.key_field, value: String(value) }
}

function causeOf(definition: TriggerDefinition, event: Row, at: number): Cause {
  const { spec, name } = definition
  const cause = `practice:${at}:${randomBytes(4).toString('hex')}`
  const reason = `practice on the newest event, ${event.id}`
  const common = { cause, at, value: null, practice: true }
  if (isSchedule(spec.condition))
    return { ...common, key: name, entity: null, reason: 'practice', eventId: null, eventIds: [], slot: at }
  const entity = entityOf(definition, event)!
  const id = rowId(event)
  return { ...common, key: entity.value, entity, reason, eventId: id, eventIds: [id] }
}

const rowId = ({ id }: Row): number => Number(id.slice('evt_'.length))

/* What is connected already, of a project that is set up. */

const FIELDS_MAX = 40

type CheckedSource = SetupChecks['sources'][number]

export function checksOf(declared: Declared, id: string): SetupChecks {
  const doc = declared.kinds.project.find(id)!.doc
  const counts = countTools(declared.store.db)
  return {
    sources: sourcesOf(declared, new Set(Object.keys(doc.uses.source ?? {}))),
    tools: Object.keys(doc.uses.mcp_server ?? {})
      .sort()
      .map((name) => {
        const listed = counts.get(name)?.tools ?? 0
        return listed
          ? {
              name,
              state: 'ok' as const,
              detail: `${listed} ${listed === 1 ? 'tool is' : 'tools are'} listed`,
            }
          : { name, state: 'untested' as const, detail: null }
      }),
    own_agent: ownOf(declared, id),
  }
}

function sourcesOf(declared: Declared, mine: ReadonlySet<string>): CheckedSource[] {
  const belongs = belongings(declared)
  return declared.sources
    .list((name) => belongs('source', name))
    .filter(({ name }) => mine.has(name))
    .map(({ name, mode, health }): CheckedSource => {
      const isReceiving = health.last_ingest !== null || mode === 'reference'
      const isFaulty = health.status === 'error' || health.status === 'refused'
      return {
        name,
        state:
          health.status === 'paused' ? 'paused' : isFaulty ? 'error' : isReceiving ? 'receiving' : 'waiting',
        detail: health.reason,
        last_event_at: health.last_ingest,
        fields_seen: isReceiving && mode !== 'reference' ? fieldsOf(declared, name) : [],
      }
    })
}

function fieldsOf({ sources }: Declared, name: string): string[] {
  return sources
    .fields(name, LOOKED_AT)
    .fields.filter(({ coverage }) => coverage > 0)
    .map(({ name: field }) => field)
    .slice(0, FIELDS_MAX)
}

/** The key that was made with the plan, or one of its name that was made since. */
function ownOf({ keys, store }: Declared, id: string): SetupChecks['own_agent'] {
  const { own_key } = setupQueries(store.db).byId(id)!
  if (own_key === null) return null
  const all = keys.list()
  const name = all.find((one) => one.id === own_key)?.name
  const mine = all.filter((one) => one.project === id && one.name === name && one.state === 'active')
  const usedAt = mine.flatMap(({ last_used_at: at }) => at ?? []).sort()
  const last = usedAt.at(-1)
  if (last) return { state: 'joined', detail: `last here at ${last}` }
  return {
    state: 'waiting',
    detail:
      mine.length > 0
        ? null
        : `its key was revoked; make another named ${name} under Settings of the project`,
  }
}

/* What is still to be done in the world so that a set-up project works: send, enter, join. */

/** Secrets that are told once, in the answer that makes them. */
export interface OnceKeys {
  /** By source. */
  ingest: ReadonlyMap<string, string>
  own: string | null
}

const NO_KEYS: OnceKeys = { ingest: new Map(), own: null }

const LOCAL_MCP = 'http://127.0.0.1:8788/mcp'
const USUAL_PORT = '8787'

/** @param id of a project that is set up. */
export function connectOf(declared: Declared, id: string, keys: OnceKeys = NO_KEYS): SetupConnect {
  const { plan: text, own_key } = setupQueries(declared.store.db).byId(id)!
  const plan = JSON.parse(text!) as Plan
  const doc = declared.kinds.project.find(id)!.doc
  return {
    sources: Object.keys(doc.uses.source ?? {})
      .sort()
      .map((name) => sourceOf(declared, plan, name, keys)),
    tools: Object.keys(doc.uses.mcp_server ?? {})
      .sort()
      .flatMap((name) => {
        const spec = declared.kinds.mcp_server.find(name)?.doc
        return spec ? [{ name, url: maskAddresses(spec.url), needs_token: !spec.auth_value }] : []
      }),
    own_agent: plan.own_agent && own_key !== null ? ownPartsOf(declared, plan.own_agent, keys.own) : null,
  }
}

function sourceOf(
  { sources, clock }: Declared,
  plan: Plan,
  name: string,
  keys: OnceKeys,
): SetupConnectSource {
  const { connector, ingestKey, config, unresolved, unreadable } = sources.requireByName(name)
  const planned = plan.watches.find((watch) => watch.name === name)
  const isPush = connector.mode === 'push' && !connector.internal
  const absent = planned?.secrets.filter(({ field }) => !config[field]) ?? []
  const lacks = unresolved[0]?.reason ?? (unreadable.length ? 'its credential cannot be read here' : null)
  return {
    name,
    connector: connector.kind,
    mode: connector.mode,
    needs: isPush ? 'send' : lacks ? 'credential' : 'none',
    ingest_url: isPush && ingestKey ? `/ingest/${ingestKey}` : null,
    sample:
      isPush && connector.kind !== EXPORTED
        ? completeSample(planned?.sample ?? null, { connector: connector.kind, config }, clock.now())
        : (planned?.sample ?? null),
    credential_hint:
      lacks ??
      (absent[0]
        ? `${absent[0].label ?? absent[0].field}: ${absent[0].help} It can be entered on the page of the source.`
        : null),
    key: keys.ingest.get(name) ?? null,
  }
}

function ownPartsOf(
  { env }: Declared,
  own: NonNullable<Plan['own_agent']>,
  key: string | null,
): NonNullable<SetupConnect['own_agent']> {
  const shared = env.SVC_PUBLIC_URL?.replace(/\/$/, '')
  const mcp_url = shared ? `${shared}/mcp` : LOCAL_MCP
  // Without an address svc mcp asks the instance that it was logged in to, or the usual port. Port 0 is one that the system chooses later.
  const { SVC_PORT: port = USUAL_PORT } = env
  const base = shared || (port === '0' ? null : `http://127.0.0.1:${port}`)
  const bearer = key ?? 'KEY'
  return {
    name: own.name,
    key,
    mcp_url,
    command: `SVC_AUTH_TOKEN=${bearer}${base ? ` SVCD_URL=${base}` : ''} svc mcp`,
    subscribe_hint:
      own.wake === 'webhook'
        ? 'It names its address with POST /api/projects/{id}/subscribe; each firing is posted there, signed.'
        : 'It waits with wait_for_firing, which hands it one firing after the other; conclude ends each, and one that it does not end in time is handed out again.',
  }
}
