/** The demo loaded, broken, mended and removed, on the writing connection; what it is now, on any. */
import { kindWord } from '../../../schemas/kinds.ts'
import type { Demo, DemoRemoved } from '../../../schemas/types.ts'
import {
  SCRIPTED_MODEL,
  SCRIPTED_PROMPT,
  SCRIPTED_PROVIDER,
  SCRIPTED_SECOND_PROMPT,
  SCRIPTED_TRIGGER,
} from '../../agents/models/scripted.ts'
import { fail } from '../../errors.ts'
import { DEMO_SETTING, openSettings, type Settings } from '../../log/settings.ts'
import type { Database } from '../../log/store/handle.ts'
import { type EventRemoval, eventRemoval } from '../../log/store/maintenance.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { parseEventId } from '../../log/timeline/present.ts'
import { partsOf, projectOf } from '../../model/project.ts'
import {
  BREAKABLE,
  DEMO_HISTORY_MS,
  type DemoFault,
  type DemoWorld,
  demoEvents,
  type Stream,
} from '../../sources/connectors/demo.ts'
import type { PollPort } from '../../sources/poller.ts'
import type { CatalogFiles } from '../catalog/catalog.ts'
import type { Declared, WriteBy } from '../declared.ts'
import { planRemoval, stageRemoval } from '../projects/remove.ts'
import { makeFindingsSource } from '../source-writes.ts'

interface DemoReads {
  demoStatus(): Promise<Demo>
}

interface DemoWrites {
  /** @throws SvcError conflict: it is loaded already, or one of its names is taken */
  startDemo(by: WriteBy): Promise<Demo>
  /** @throws SvcError not_found: it is not loaded; conflict: something else uses a part of it */
  removeDemo(by: WriteBy): Promise<DemoRemoved>
  /** One that is broken already stays so. @throws SvcError not_found: it is not loaded */
  breakDemo(service: string): Promise<Demo>
  /** @param service absent: all. @throws SvcError not_found: it is not loaded */
  mendDemo(service?: string): Promise<Demo>
}

export type DemoCalls = DemoReads & DemoWrites

/** What is broken from the start, and since how long before, ms: its first errors are in the window of the trigger. */
const FIRST = 'checkout'
const FIRST_MS = 25_000
const SEED = 1

export function demoReads({ store, clock }: Pick<Declared, 'store' | 'clock'>): DemoReads {
  const settings = openSettings(store, clock)
  return { demoStatus: async () => present(readDemo(settings)) }
}

interface DemoParts {
  declared: Declared
  catalog: Pick<CatalogFiles, 'import'>
  settlePoll: PollPort['settlePoll']
  /** Of the writing connection. */
  ctx: ReadContext
}

export function demoCalls({ declared, catalog, settlePoll, ctx }: DemoParts): DemoCalls {
  const { store, clock } = declared
  const settings = openSettings(store, clock)
  const events = eventRemoval(store, ctx.index, ctx.dictionary)
  const { demoStatus } = demoReads(declared)
  const required = (): DemoState =>
    readDemo(settings) ??
    fail('not_found', 'the demo is not loaded; load it with POST /api/demo, or svc demo start')

  /** What is declared, and that it is a demo: all or nothing. */
  function declare(by: WriteBy, now: number): DemoState {
    requireNamesFree(declared)
    const { db } = store
    catalog.import({ yaml: demoCatalog() }, { ...by, origin: 'catalog', mintKeys: false, why: 'Demo' })
    const project = declared.kinds.project.list().find(({ name }) => name === DEMO_PROJECT)!.key
    // Kept in the demo's project, so that it goes with it where nothing else is in it.
    const madeFindings = makeFindingsSource(declared, project)
    const idOf = (table: 'sources' | 'triggers', name: string) =>
      db.prepare(`SELECT id FROM ${table} WHERE name = ? AND state <> 'deleted'`).pluck().get(name) as number
    const state: DemoState = {
      ...{ seed: SEED, at: now, project },
      findings: madeFindings === null ? null : idOf('sources', madeFindings),
      faults: [{ service: FIRST, n: 1, from: now - FIRST_MS, to: null }],
      sources: DEMO_SOURCES.map(({ name }) => idOf('sources', name)),
      triggers: [idOf('triggers', SCRIPTED_TRIGGER)],
    }
    settings.put(DEMO_SETTING, state)
    return state
  }

  /**
   * The history, source by source, as their first polls: the one that wakes the agent comes last, so that it finds
   * what the others brought. Polls make what a crash leaves out.
   */
  async function backfill({ seed, faults, sources }: DemoState, now: number): Promise<void> {
    for (const [i, { stream }] of DEMO_SOURCES.entries()) {
      const sourceId = sources[i]!
      const version = declared.sources.store.polls.versionOf(sourceId)
      if (version === undefined) continue
      const items = demoEvents({ seed, faults }, stream, now - DEMO_HISTORY_MS, now)
      await settlePoll({
        ...{ sourceId, version, cursor: null, began: now, ended: now },
        ...{
          items: items.map((event) => JSON.stringify(event)),
          newCursor: String(now),
          more: false,
          notice: null,
        },
      })
    }
  }

  const change = async (make: (state: DemoState, now: number) => DemoState): Promise<Demo> => {
    store.tx(() => settings.put(DEMO_SETTING, make(required(), clock.now())))
    return demoStatus()
  }

  return {
    demoStatus,
    async startDemo(by) {
      const now = clock.now()
      const state = store.tx(() => declare(by, now))
      await backfill(state, now)
      return demoStatus()
    },
    removeDemo: async (by) => store.tx(() => removeAll({ declared, settings, events }, required(), by)),
    breakDemo: (service) => change((state, now) => broken(state, service, now)),
    mendDemo: (service) => change((state, now) => mended(state, service, now)),
  }
}

function requireNamesFree({ kinds, store, clock }: Declared): void {
  if (readDemo(openSettings(store, clock))) fail('conflict', 'the demo is loaded already')
  const taken = DEMO_PARTS.find(({ kind, name }) => kinds[kind].find(name) !== undefined)
  if (taken)
    fail(
      'conflict',
      `the demo was not loaded: the ${kindWord(taken.kind)} ${taken.name} is not its own; rename or delete it`,
    )
  if (kinds.project.list().some(({ name }) => name === DEMO_PROJECT))
    fail(
      'conflict',
      `the demo was not loaded: the project ${DEMO_PROJECT} is not its own; rename or delete it`,
    )
}

function present(state: DemoState | undefined): Demo {
  return {
    loaded: state !== undefined,
    since: state ? new Date(state.at).toISOString() : null,
    project: state?.project ?? null,
    services: BREAKABLE,
    faults: state
      ? openFaults(state).map(({ service, from }) => ({ service, since: new Date(from).toISOString() }))
      : [],
  }
}

/* The demo as a catalog file: what it declares, every part named demo-… and labelled Demo. */

const DEMO_PROJECT = 'Demo shop'
const FILE = 'demo'

const label = (name: string, type?: 'number') => ({ name, field: name, ...(type ? { type } : {}) })
const SERVICE = { name: 'service', field: 'service', primary: true }
/** On every event, so that a list of events says what they are. */
const DEMO = { name: 'demo', const: 'true' }

/** The last one wakes the agent, which reads what the others brought. */
export const DEMO_SOURCES: readonly { name: string; stream: Stream; labels: object[] }[] = [
  { name: 'demo-deploys', stream: 'deploys', labels: [] },
  {
    name: 'demo-metrics',
    stream: 'metrics',
    labels: [label('error_rate', 'number'), label('p95_ms', 'number')],
  },
  { name: 'demo-access-logs', stream: 'access_logs', labels: [label('route'), label('status')] },
  { name: 'demo-alerts', stream: 'alerts', labels: [label('state')] },
  { name: 'demo-tickets', stream: 'tickets', labels: [] },
  {
    name: 'demo-traces',
    stream: 'traces',
    labels: [
      label('signal'),
      label('level'),
      { name: 'trace_id', field: 'traceId' },
      { name: 'span_id', field: 'spanId' },
      { name: 'parent_id', field: 'parentSpanId' },
    ],
  },
  { name: 'demo-app-logs', stream: 'app_logs', labels: [label('level')] },
]

/** The first is woken by the trigger, and hands over to the second what a change began. */
const FIRST_AGENT = 'demo-first-look'
const SECOND_AGENT = 'demo-second-look'
const AGENTS = JSON.stringify([FIRST_AGENT, SECOND_AGENT])

/** What it declares, by kind. */
const DEMO_PARTS = [
  ...DEMO_SOURCES.map(({ name }) => ({ kind: 'source' as const, name })),
  { kind: 'trigger' as const, name: SCRIPTED_TRIGGER },
  { kind: 'agent' as const, name: FIRST_AGENT },
  { kind: 'agent' as const, name: SECOND_AGENT },
]

/** What its agents have in common. */
const SCRIPTED_AGENT = {
  project: DEMO_PROJECT,
  provider: SCRIPTED_PROVIDER,
  model: SCRIPTED_MODEL,
  context: 'plain',
  concludes: true,
  daily_cap: 1_000,
}

/** The file, as JSON, which is YAML. */
const demoCatalog = (): string =>
  JSON.stringify({
    catalog: FILE,
    sources: DEMO_SOURCES.map(({ name, stream, labels }) => ({
      ...{ name, projects: [DEMO_PROJECT], connector: 'demo', poll: '2s' },
      config: { stream, labels: [SERVICE, ...labels, DEMO] },
    })),
    triggers: [
      {
        name: SCRIPTED_TRIGGER,
        project: DEMO_PROJECT,
        description: 'a service of the demo logs more than 4 errors in 30 s',
        sources: ['demo-app-logs'],
        filters: [{ field: 'level', op: 'eq', value: 'error' }],
        condition: { aggregate: 'count', predicate: '> 4', window: '30s', resolve: true },
        key_field: 'service',
        cooldown: '1s',
        // The history is there to be read. What is over by the clock when it is stored would only fire to be over.
        max_late: '28s',
        severity: 'critical',
      },
    ],
    agents: [
      {
        ...SCRIPTED_AGENT,
        name: FIRST_AGENT,
        prompt: SCRIPTED_PROMPT,
        verdicts: [
          { verdict: 'take_back', when: 'A change came right before the errors.' },
          { verdict: 'investigate', when: 'No change came before the errors.' },
        ],
        handoffs: [{ verdict: 'take_back', agent: SECOND_AGENT, cooldown: '1s' }],
      },
      {
        ...SCRIPTED_AGENT,
        name: SECOND_AGENT,
        prompt: SCRIPTED_SECOND_PROMPT,
        verdicts: [{ verdict: 'take_back', when: 'The change is the cause.' }],
        enabled: true,
      },
    ],
    projects: [
      {
        template: 'custom',
        name: DEMO_PROJECT,
        description: 'Demo: a made-up shop with a scripted model. Remove it any time.',
      },
    ],
    wiring: [{ project: DEMO_PROJECT, wake: SCRIPTED_TRIGGER, agent: FIRST_AGENT, enabled: true }],
  })

const DEMO_FILE = FILE

/*
 * The demo taken away whole, in the caller's transaction: first as an edit, so that whatever holds what is declared
 * in memory reads it again, then every row that it left. What somebody else's parts use is refused by the edit.
 */

interface RemovalParts {
  declared: Declared
  settings: Settings
  events: EventRemoval
}

/** @throws SvcError conflict: something else uses a part of it */
function removeAll({ declared, settings, events }: RemovalParts, state: DemoState, by: WriteBy): DemoRemoved {
  const { db } = declared.store
  const runs = runsOf(db, state)
  const removed = events.ofSources(state.sources) + events.byId(findingEvents(db, runs))
  const findings = emptyFindings(db, state)
  undeclare(declared, state, findings, by)
  const incidents = removeRecords(db, state, runs)
  removeRows(db, state, [...state.sources, ...findings.map(({ id }) => id)])
  settings.put(DEMO_SETTING, undefined)
  return { ok: true, events: removed, incidents, runs: runs.length }
}

interface NamedRow {
  id: number
  name: string
}

/** As an edit: the project with the parts of the demo; what else is in it goes to the Default project. */
function undeclare(
  declared: Declared,
  { project }: DemoState,
  findings: readonly NamedRow[],
  by: WriteBy,
): void {
  const parts = [...DEMO_PARTS, ...findings.map(({ name }) => ({ kind: 'source' as const, name }))]
  const own = new Set(parts.map(({ kind, name }) => `${kind}:${name}`))
  declared.changes.commit({ ...by, why: 'Remove demo' }, (edit) => {
    if (edit.has('project', project)) {
      const held = partsOf(projectOf(edit, project)).map(({ kind, name }) => `${kind}:${name}`)
      const picked = held.filter((part) => own.has(part))
      stageRemoval(edit, project, planRemoval(edit, project, new Set(), picked))
    }
    for (const { kind, name } of parts.reverse()) edit.remove(kind, name)
  })
}

/** The source of findings that was made for it, where nobody else's are in it. */
function emptyFindings(db: Database, { findings }: DemoState): NamedRow[] {
  return db
    .prepare<[number | null], NamedRow>(
      "SELECT id, name FROM sources WHERE id = ? AND events = 0 AND state <> 'deleted'",
    )
    .all(findings)
}

/** Of its agents, and of its project alone: what other agents found there, too. */
function runsOf(db: Database, { project }: DemoState): string[] {
  return db
    .prepare<[string, string, string], string>(
      `SELECT id FROM runs WHERE agent IN (SELECT value FROM json_each(?)) OR (id IN (SELECT run_id FROM run_projects WHERE project = ?)
         AND id NOT IN (SELECT run_id FROM run_projects WHERE project <> ?))`,
    )
    .pluck()
    .all(AGENTS, project, project)
}

function findingEvents(db: Database, runs: readonly string[]): number[] {
  return db
    .prepare<[string], string>(
      'SELECT event_id FROM runs WHERE event_id IS NOT NULL AND id IN (SELECT value FROM json_each(?))',
    )
    .pluck()
    .all(JSON.stringify(runs))
    .flatMap((id) => parseEventId(id) ?? [])
}

/** What was recorded while it was there. @returns how many incidents */
function removeRecords(db: Database, { triggers, project }: DemoState, runs: readonly string[]): number {
  const ofTriggers = JSON.stringify(triggers)
  const ofRuns = JSON.stringify(runs)
  const remove = (sql: string, ...values: string[]) => db.prepare(sql).run(...values).changes
  const firings = 'SELECT id FROM firings WHERE trigger_id IN (SELECT value FROM json_each(?))'
  remove(`DELETE FROM deliveries WHERE firing_id IN (${firings})`, ofTriggers)
  remove('DELETE FROM deliveries WHERE finding_of IN (SELECT value FROM json_each(?))', ofRuns)
  remove(`DELETE FROM setups WHERE id = ?`, project)
  for (const table of [
    'active_keys',
    'active_alerts',
    'watched_keys',
    'key_bases',
    'trigger_schedules',
    'evaluations',
    'firings',
  ])
    remove(`DELETE FROM ${table} WHERE trigger_id IN (SELECT value FROM json_each(?))`, ofTriggers)
  const incidents = remove(
    'DELETE FROM incidents WHERE trigger_id IN (SELECT value FROM json_each(?))',
    ofTriggers,
  )
  for (const column of ['from_run', 'to_run'])
    remove(`DELETE FROM handoffs WHERE ${column} IN (SELECT value FROM json_each(?))`, ofRuns)
  remove('DELETE FROM model_usage WHERE run_id IN (SELECT value FROM json_each(?))', ofRuns)
  remove('DELETE FROM agent_tests WHERE agent IN (SELECT value FROM json_each(?))', AGENTS)
  remove('DELETE FROM incident_runs WHERE run_id IN (SELECT value FROM json_each(?))', ofRuns)
  remove('DELETE FROM runs WHERE id IN (SELECT value FROM json_each(?))', ofRuns)
  return incidents
}

/** What was declared, and the record of that. */
function removeRows(db: Database, state: DemoState, sources: readonly number[]): void {
  const { project, triggers, at } = state
  const remove = (sql: string, values: Record<string, string | number>) => db.prepare(sql).run(values)
  const names = DEMO_PARTS.map(({ kind, name }) => `${kind}:${name}`)
  const values = {
    ...{ project, at, file: DEMO_FILE },
    sources: JSON.stringify(sources),
    triggers: JSON.stringify(triggers),
    names: JSON.stringify(names),
    objects: JSON.stringify([...names, `project:${project}`, ...findingNames(db, sources)]),
  }
  const ids = (name: string) => `(SELECT value FROM json_each(@${name}))`
  const named = `(kind || ':' || coalesce(name, key)) IN ${ids('objects')}`
  for (const table of ['polls', 'dedupe', 'documents', 'purges', 'keys'])
    remove(`DELETE FROM ${table} WHERE source_id IN ${ids('sources')}`, { sources: values.sources })
  // Counted anew when it is needed.
  remove("DELETE FROM meta WHERE key = 'item_keys'", {})
  remove(`DELETE FROM keys WHERE project = @project`, { project })
  remove('DELETE FROM subscriptions WHERE project = @project', { project })
  remove(`DELETE FROM project_uses WHERE project = @project`, { project })
  remove('DELETE FROM planned_objects WHERE project = @project', { project })
  remove(`DELETE FROM guarded_parts WHERE (kind || ':' || name) IN ${ids('names')}`, { names: values.names })
  remove('DELETE FROM catalog_files WHERE name = @file', { file: DEMO_FILE })
  remove(
    `DELETE FROM changes WHERE change_set IN (SELECT id FROM change_sets WHERE at >= @at)
       AND ((kind || ':' || key) IN ${ids('objects')} OR ${named})`,
    { at, objects: values.objects },
  )
  remove('DELETE FROM change_set_projects WHERE project = @project', { project })
  // Nothing is left in them.
  remove(
    `DELETE FROM change_set_projects WHERE change_set IN (SELECT id FROM change_sets WHERE at >= @at)
       AND change_set NOT IN (SELECT change_set FROM changes)`,
    { at },
  )
  const empty = 'SELECT id FROM change_sets WHERE at >= @at AND id NOT IN (SELECT change_set FROM changes)'
  remove(`UPDATE change_sets SET undone_by = NULL WHERE undone_by IN (${empty})`, { at })
  remove(`UPDATE change_sets SET undoes = NULL WHERE undoes IN (${empty})`, { at })
  remove(`DELETE FROM change_sets WHERE id IN (${empty})`, { at })
  remove(
    `DELETE FROM history WHERE at >= @at AND ((kind || ':' || object) IN ${ids('objects')}
       OR (kind = 'project' AND object = @shop))`,
    { at, objects: values.objects, shop: projectName(db, project) },
  )
  remove(`DELETE FROM sources WHERE id IN ${ids('sources')}`, { sources: values.sources })
  remove(`DELETE FROM triggers WHERE id IN ${ids('triggers')}`, { triggers: values.triggers })
  remove(
    "DELETE FROM agents WHERE name IN (SELECT value FROM json_each(@agents)) AND state = 'deleted' AND created_at >= @at",
    { agents: AGENTS, at },
  )
  remove('DELETE FROM projects WHERE id = @project', { project })
}

const projectName = (db: Database, id: string): string =>
  (db.prepare('SELECT name FROM projects WHERE id = ?').pluck().get(id) as string | undefined) ?? id

const findingNames = (db: Database, sources: readonly number[]): string[] =>
  db
    .prepare<[string], string>(
      "SELECT 'source:' || name FROM sources WHERE connector = 'finding' AND id IN (SELECT value FROM json_each(?))",
    )
    .pluck()
    .all(JSON.stringify(sources))

/* What is remembered of the demo: one row of the settings, gone with it. */

interface DemoState extends DemoWorld {
  faults: DemoFault[]
  /** When it was loaded, epoch ms. */
  at: number
  /** Id of its project. */
  project: string
  /** Ids of rows: a name alone may have been somebody else's before. */
  sources: number[]
  triggers: number[]
  /** Id of the source of findings that was made for it; null: there was one. */
  findings: number | null
}

const readDemo = (settings: Settings): DemoState | undefined => settings.get<DemoState>(DEMO_SETTING)

/** What polls of the demo's sources are given. @param now epoch ms */
export function demoWorld(settings: Settings, now: number): { world?: DemoWorld; now: number } {
  const state = readDemo(settings)
  return state ? { world: { seed: state.seed, faults: state.faults }, now } : { now }
}

/** Broken now. */
const openFaults = ({ faults }: DemoState): DemoFault[] => faults.filter(({ to }) => to === null)

/**
 * Breaks a service, or mends it. A change is of a millisecond after `now`: what was polled reaches up to `now`.
 * @returns the state after it; the same where nothing is to be done
 */
function broken(state: DemoState, service: string, now: number): DemoState {
  if (openFaults(state).some((fault) => fault.service === service)) return state
  const n = 1 + state.faults.filter((fault) => fault.service === service).length
  return { ...state, faults: [...state.faults, { service, n, from: now + 1, to: null }] }
}

/** @param service absent: all that are broken */
function mended(state: DemoState, service: string | undefined, now: number): DemoState {
  const isMeant = (fault: DemoFault) => fault.to === null && (service ?? fault.service) === fault.service
  return {
    ...state,
    faults: state.faults.map((fault) => (isMeant(fault) ? { ...fault, to: now + 1 } : fault)),
  }
}
