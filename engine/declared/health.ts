/**
 * Whether a project works, and what to do where it does not (SPEC.md, Project: the health line). What counts: its sources, what its
 * plan misses, its wiring, a provider, variables, the last runs of its agents, and deliveries. docs/health.md lists it.
 */

import { kindWord, nounOfKind } from '../../schemas/kinds.ts'
import { capitalised, countWords } from '../../schemas/plain-words.ts'
import type { ProjectHealth, Usage } from '../../schemas/types.ts'
import { type ParkedTurns, parkedTurns } from '../agents/ask/queries.ts'
import { SCRIPTED_PROVIDER } from '../agents/models/scripted.ts'
import type { EngineStatus } from '../calls.ts'
import { countedBy } from '../incidents/steps.ts'
import type { Figures } from '../log/figures.ts'
import type { Database } from '../log/store/handle.ts'
import type { Capacity } from '../log/store/maintenance.ts'
import { overSize } from '../log/store/segments.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { type ProjectDoc, partsOf, wiringOf } from '../model/project.ts'
import { iso, severityOfRank } from '../model/units.ts'
import { openVariable, variableFault } from '../net/secrets.ts'
import { type FindingTold, findingsTold } from '../outbox/rows.ts'
import { isSubscribed } from '../outbox/subscriptions.ts'
import type { LiveSource } from '../sources/live.ts'
import { driftsOf } from '../sources/sources.ts'
import type { SealedSecrets } from './credentials.ts'
import type { Declared } from './declared.ts'
import { watchesOf, wokenAgents } from './projects/outline.ts'
import { requireProject } from './skill-writes.ts'

type Issue = ProjectHealth['issues'][number]

/** @param hasProvider whether a model provider is there to run agents on. @throws SvcError not_found */
export function projectHealth(declared: Declared, word: string, hasProvider: boolean): ProjectHealth {
  const id = requireProject(declared, word)
  const doc = declared.kinds.project.find(id)!.doc
  if (doc.draft) return { state: 'setting_up', message: 'A draft: its plan is not applied yet', issues: [] }
  if (doc.paused) return { state: 'paused', message: 'Paused: nothing in it wakes an agent', issues: [] }
  const issues = [
    ...providerIssues(declared, doc, hasProvider),
    ...sourceIssues(declared, doc),
    ...missingIssues(declared, id),
    ...variableIssues(declared, doc),
    ...parkedIssues(declared, id),
    ...runIssues(declared, id, doc),
    ...deliveryIssues(declared, id, doc),
    ...driftIssues(declared, doc),
    ...wiringIssues(declared, id, doc),
    // What to do follows the message; some of what systems answered ends as a sentence of its own.
  ].map((issue) => ({ ...issue, message: issue.message.replace(/\.$/, '') }))
  const [first] = issues
  if (!first && partsOf(doc).length === 0)
    return { state: 'setting_up', message: 'Add a source of events to begin', issues }
  if (!first) return { state: 'working', message: 'Everything it needs is in place', issues }
  const errors = issues.filter(({ severity }) => severity === 'error').length
  const many = `${issues.length} things need attention${errors ? `, ${errors} of them now` : ''}`
  return { state: 'attention', message: issues.length === 1 ? first.message : many, issues }
}

function providerIssues(declared: Declared, doc: ProjectDoc, hasProvider: boolean): Issue[] {
  const needing = [...wokenAgents(declared, doc).keys()].filter(
    (name) => declared.kinds.agent.find(name)?.doc.provider !== SCRIPTED_PROVIDER,
  )
  if (hasProvider || needing.length === 0) return []
  return [
    {
      severity: 'error',
      message: 'No model provider is set, so its agents cannot run',
      fix: 'Add a model provider',
      view: '/settings?tab=providers',
    },
  ]
}

function parkedIssues({ store }: Declared, id: string): Issue[] {
  const parked = parkedRunsOf(store.db, id)
  if (parked === null) return []
  return [
    {
      severity: 'warning',
      message: parkedSentence(parked),
      fix: 'They go on by themselves; look at the model provider, or set a fallback under Settings, Agents',
      view: '/runs?status=parked',
    },
  ]
}

function sourceIssues(declared: Declared, doc: ProjectDoc): Issue[] {
  const { sources } = declared
  const doing = sources.doing(Object.keys(doc.uses.source ?? {}))
  const refused = new Set(doing.flatMap(({ name, health }) => (health.status === 'refused' ? [name] : [])))
  return watchesOf(declared, doc).flatMap(({ source, state, detail }): Issue[] => {
    const view = `/sources/${encodeURIComponent(source)}`
    // Nothing of the source is wrong: it is the storage of the instance that has no room.
    if (refused.has(source))
      return [
        {
          severity: 'error',
          message: `Source ${source}: ${detail}`,
          fix: 'Make room: purge events of sources you no longer need, or raise SVC_MAX_DB_SIZE',
          view: '/help/storage',
        },
      ]
    if (state === 'error')
      return [
        {
          severity: 'error',
          message: `Source ${source}: ${detail}`,
          fix: 'Open the source and correct its settings',
          view,
        },
      ]
    if (state === 'paused')
      return [
        {
          severity: 'warning',
          message: `Source ${source} is paused`,
          fix: 'Resume it to take events again',
          view,
        },
      ]
    const { rejected, events } = declared.sources.requireByName(source).counters
    // One bad item is its sender's fault; where more is refused than taken, it is about the source.
    if (rejected === 0 || rejected < events) return []
    return [
      {
        severity: 'warning',
        message: `Source ${source} refused ${rejected} of ${countWords(rejected + events, 'item')} since the start`,
        fix: 'Compare what is sent with its settings',
        view,
      },
    ]
  })
}

function missingIssues({ projects }: Declared, id: string): Issue[] {
  return projects
    .plannedOf(id)
    .filter(({ state }) => state === 'missing')
    .map(({ kind, name }) => ({
      severity: 'error',
      message: `${capitalised(kindWord(kind))} ${name} is missing`,
      fix: 'Repair makes it again from the plan',
      view: `/projects/${id}?tab=parts`,
    }))
}

/** Variables that MCP servers and agents refer to; those of sources are a fault of the source. */
function variableIssues({ kinds, env }: Declared, doc: ProjectDoc): Issue[] {
  return (['mcp_server', 'agent'] as const).flatMap((kind) =>
    Object.keys(doc.uses[kind] ?? {})
      .sort()
      .flatMap((name) => {
        const found = kinds[kind].find(name)
        const uses = (found && kinds[kind].variables?.(found.doc)) || []
        return uses
          .filter(({ variable }) => typeof openVariable(variable, env) === 'string')
          .map(({ variable }): Issue => {
            const fault = variableFault(variable, env)
            return {
              severity: 'error',
              message: `${capitalised(kindWord(kind))} ${name} refers to the variable ${variable}, which ${fault === null ? 'is not set' : 'may not be opened'}`,
              // Setting one that may not be opened would help nothing.
              fix:
                fault === null
                  ? 'Set the variable and start again, or enter the secret itself'
                  : capitalised(fault),
              view: `/${nounOfKind(kind)}/${encodeURIComponent(name)}`,
            }
          })
      }),
  )
}

function runIssues({ store, clock, kinds }: Declared, id: string, doc: ProjectDoc): Issue[] {
  return lastRuns(store.db, id, clock.now())
    .filter(({ agent }) => doc.uses.agent?.[agent])
    .flatMap((last) => {
      const { agent, run, state, error, failed, told, servers } = last
      const { delivery, delivery_error, slack, slack_error, github, github_error } = told
      const [ofRun, ofAgent] = [`/runs/${run}`, `/agents/${encodeURIComponent(agent)}`]
      const issues: Issue[] = []
      const add = (view: string, message: string, fix: string, severity: Issue['severity'] = 'error') =>
        issues.push({ severity, message, fix, view })
      const which = `The last ${failed === 1 ? 'run' : `${failed} runs`} of agent ${agent}`
      const budget = error ?? 'a budget is reached'
      if (state === 'capped')
        add(ofRun, `Agent ${agent} was not run: ${budget}`, 'Raise the budget or the daily cap')
      else if (state !== 'succeeded' && state !== 'exhausted')
        add(ofRun, `${which} failed: ${error ?? 'it said nothing'}`, 'Open the run to see what went wrong')
      const finding = `The last finding of agent ${agent}`
      const unsent = `${finding} did not reach its webhook: ${delivery_error ?? delivery}`
      if (delivery !== null && delivery !== 'ok' && delivery !== 'pending')
        add(ofAgent, unsent, 'Check the address and its token')
      if (slack === 'failed')
        add(
          ofAgent,
          `${finding} was not posted to Slack: ${slack_error ?? 'no reason is recorded'}`,
          'Check the channel of the agent, and Slack in the settings',
        )
      if (github === 'failed')
        add(
          ofAgent,
          `${finding} was not written on GitHub: ${github_error ?? 'no reason is recorded'}`,
          'Check the credential of the agent, and what it may write',
        )
      const used = kinds.agent.find(agent)?.doc.mcp_servers ?? []
      for (const { server, skipped } of JSON.parse(servers) as { server: string; skipped: string | null }[])
        if (skipped !== null && used.includes(server))
          add(
            `/${nounOfKind('mcp_server')}/${encodeURIComponent(server)}`,
            `The last run of agent ${agent} was without tools of MCP server ${server}: ${skipped}`,
            'Test the server to see whether it answers by now',
            'warning',
          )
      return issues
    })
}

function deliveryIssues({ store, clock }: Declared, id: string, doc: ProjectDoc): Issue[] {
  const triggers = Object.keys(doc.uses.trigger ?? {})
  return failingDeliveries(store.db, id, triggers, clock.now()).map(({ masked, reason, disabled }) => ({
    severity: 'error',
    message: disabled
      ? `Deliveries to ${masked} are switched off, because they kept failing`
      : `The last delivery to ${masked} failed: ${reason ?? 'no reason is recorded'}`,
    fix: 'Check the address, then deliver again',
    view: '/deliveries',
  }))
}

function wiringIssues(declared: Declared, id: string, doc: ProjectDoc): Issue[] {
  const { kinds } = declared
  const { wakes, handoffs } = wiringOf(doc)
  const agents = Object.keys(doc.uses.agent ?? {}).sort()
  const triggers = Object.keys(doc.uses.trigger ?? {}).sort()
  const graph = `/projects/${id}?tab=graph`
  const pageOf = (kind: 'trigger' | 'agent', name: string) =>
    `/${nounOfKind(kind)}/${encodeURIComponent(name)}`
  const warn = (message: string, fix: string, view: string): Issue => ({
    severity: 'warning',
    message,
    fix,
    view,
  })
  const wakesOf = (agent: string) => wakes.filter((wake) => wake.agent === agent)
  const isHandedTo = (agent: string) => handoffs.some(({ to }) => to === agent)
  const idle = agents.filter(
    (agent) =>
      wakesOf(agent).length === 0 && !isHandedTo(agent) && !isWiredElsewhere(declared, id, 'agent', agent),
  )
  const off = agents.filter(
    (agent) => wakesOf(agent).length > 0 && !wakesOf(agent).some(({ enabled }) => enabled),
  )
  const paused = triggers.filter((trigger) => kinds.trigger.find(trigger)?.doc.paused)
  const unheard = triggers.filter(
    (trigger) =>
      !wakes.some((wake) => wake.trigger === trigger) &&
      !isSubscribed(declared.store.db, trigger) &&
      !isWiredElsewhere(declared, id, 'trigger', trigger),
  )
  return [
    ...paused.map((name) =>
      warn(`Trigger ${name} is paused`, 'Resume it to fire again', pageOf('trigger', name)),
    ),
    ...off.map((name) =>
      warn(
        `Agent ${name} is off: ${isHandedTo(name) ? 'only handoffs wake it' : 'nothing wakes it'}`,
        'Switch it on',
        pageOf('agent', name),
      ),
    ),
    ...idle.map((name) =>
      warn(`Nothing wakes agent ${name}`, 'Wire a trigger to it, or a handoff from another agent', graph),
    ),
    ...unheard.map((name) => warn(`Trigger ${name} wakes no agent`, 'Wire an agent to it', graph)),
  ]
}

/** Whether another project has a wire of a part that both use: what is shared may wake, and be woken, there. */
function isWiredElsewhere(
  { kinds, store }: Declared,
  id: string,
  kind: 'trigger' | 'agent',
  name: string,
): boolean {
  const users = store.db.prepare<[string, string, string], string>(
    'SELECT project FROM project_uses WHERE kind = ? AND name = ? AND project <> ?',
  )
  return (users.pluck().all(kind, name, id) as string[]).some((user) => {
    const { wakes, handoffs } = wiringOf(kinds.project.find(user)!.doc)
    return (
      wakes.some((row) => row[kind] === name) || (kind === 'agent' && handoffs.some(({ to }) => to === name))
    )
  })
}

/** Labels that its parts depend on and that do not come, and what else a part says of itself with its remedy. */
function driftIssues(declared: Declared, doc: ProjectDoc): Issue[] {
  return (['source', 'trigger', 'agent'] as const).flatMap((kind) =>
    Object.keys(doc.uses[kind] ?? {})
      .sort()
      .flatMap((name) =>
        driftsOf(declared, kind, name).map(
          (drift): Issue => ({
            severity: 'warning',
            message: `${capitalised(kind)} ${name}: ${drift}`,
            fix: drift.includes(' names label ')
              ? 'Name a label that its events carry, or have the source give them this one'
              : `Change the ${kind}`,
            view: `/${nounOfKind(kind)}/${encodeURIComponent(name)}`,
          }),
        ),
      ),
  )
}

/* What is wrong with the whole instance beside its storage, for GET /health; docs/health.md lists it. */

/** Fewer may fail for reasons of their own. */
const LEAST_SOURCES = 2

/** @returns sentences, none when it is well. @param hasProvider whether there is a model provider */
function instanceFaults(declared: Declared, hasProvider: boolean): string[] {
  const { db } = declared.store
  const faults: string[] = [overSize(db) ?? []].flat()
  if (!hasProvider && wakesAnyAgent(db))
    faults.push('agents are switched on and no model provider is set, so none of them can run')
  const failing = allRunsFail(db, declared.clock.now())
  if (failing !== null) faults.push(failing)
  const parked = parkedRuns(db)
  if (parked !== null) faults.push(parkedSentence(parked))
  const asked = parkedTurns(db)
  if (asked !== null)
    faults.push(
      waitSentence(
        asked.turns === 1 ? '1 question to Ask waits' : `${asked.turns} questions to Ask wait`,
        asked,
      ),
    )
  const all = allSourcesFail(declared)
  if (all !== null) faults.push(all)
  return faults
}

/** Asked by whoever watches the instance, so that it costs what the sources in memory do, and one statement. */
function allSourcesFail({ sources, store }: Declared): string | null {
  const asked = sources
    .live()
    .filter(({ paused, connector }) => !paused && connector.mode !== 'reference' && !connector.internal)
  if (asked.length < LEAST_SOURCES) return null
  const isUnset = ({ unreadable, unresolved }: LiveSource) => unreadable.length + unresolved.length > 0
  const failing = new Set(
    store.db.prepare<[], number>('SELECT source_id FROM polls WHERE last_error IS NOT NULL').pluck().all(),
  )
  const isWell = (source: LiveSource) =>
    !isUnset(source) &&
    !(source.connector.mode === 'poll' && failing.has(source.id)) &&
    source.signature?.secrets.length !== 0
  return asked.some(isWell) ? null : `none of the ${asked.length} sources takes events`
}

/* How the last runs and deliveries went: what health is judged by. */

/** What is older says nothing of how it goes now. */
const WINDOW_MS = 7 * 86_400_000
const RUNS_LOOKED_AT = 10

interface LastRun {
  agent: string
  /** Id of the newest that ended. */
  run: string
  state: string
  error: string | null
  /** How many failed one after the other, newest first; at most those looked at. */
  failed: number
  /** JSON: the MCP servers it used, or skipped and why. */
  servers: string
  /** How its finding was told. */
  told: FindingTold
}

type Ended = Omit<LastRun, 'failed' | 'told'>

/** The last run of each agent of a project that ended within seven days, practice left out. */
function lastRuns(db: Database, project: string, now: number): LastRun[] {
  const ended = db
    .prepare<{ project: string; since: number }, Ended>(
      `SELECT agent, run, state, error, servers FROM (
         SELECT r.agent, r.id AS run, r.state, r.error, r.servers, r.seq,
           row_number() OVER (PARTITION BY r.agent ORDER BY r.seq DESC) AS n
         FROM run_projects p JOIN runs r ON r.id = p.run_id
         WHERE p.project = @project AND r.finished_at > @since AND r.practice = 0 AND r.woken_by <> 'external'
           AND r.state NOT IN ('queued', 'running', 'parked', 'cancelled'))
       WHERE n <= ${RUNS_LOOKED_AT} ORDER BY agent, seq DESC`,
    )
    .all({ project, since: now - WINDOW_MS })
  const told = findingsTold(db)
  const byAgent = new Map<string, Ended[]>()
  for (const run of ended) byAgent.set(run.agent, [...(byAgent.get(run.agent) ?? []), run])
  return [...byAgent.values()].map((runs) => {
    const succeeded = runs.findIndex(({ state }) => !isFailure(state))
    return { ...runs[0]!, told: told(runs[0]!.run), failed: succeeded < 0 ? runs.length : succeeded }
  })
}

const isFailure = (state: string): boolean => state === 'failed' || state === 'empty'

interface FailingRecipient {
  masked: string
  reason: string | null
  disabled: boolean
}

/** Addresses subscribed to a project or its triggers whose last delivery within seven days failed. */
function failingDeliveries(
  db: Database,
  project: string,
  triggers: readonly string[],
  now: number,
): FailingRecipient[] {
  const subscribed = db
    .prepare<[string, string], { id: string; masked: string; disabled_at: number | null }>(
      `SELECT id, masked, disabled_at FROM subscriptions WHERE removed_at IS NULL
         AND (project = ? OR (project IS NULL AND trigger_name IN (SELECT value FROM json_each(?))))
       ORDER BY created_at, id`,
    )
    .all(project, JSON.stringify(triggers))
  const newest = db.prepare<[string, number], { state: string; reason: string | null }>(
    `SELECT state, reason FROM deliveries WHERE recipient = ? AND made_at > ? AND state IN ('delivered', 'failed')
     ORDER BY seq DESC LIMIT 1`,
  )
  return subscribed.flatMap(({ id, masked, disabled_at }) => {
    const last = newest.get(id, now - WINDOW_MS)
    const disabled = disabled_at !== null
    return disabled || last?.state === 'failed' ? [{ masked, reason: last?.reason ?? null, disabled }] : []
  })
}

const INSTANCE_WINDOW_MS = 86_400_000
const INSTANCE_RUNS = 5
const INSTANCE_LEAST = 3

/** Why no agent of the instance gets anything done; null: some do, or too few were asked to tell. */
function allRunsFail(db: Database, now: number): string | null {
  const runs = db
    .prepare<[number], { state: string; error: string | null }>(
      `SELECT state, error FROM runs WHERE finished_at > ? AND practice = 0 AND woken_by <> 'external' AND state <> 'cancelled'
       ORDER BY finished_at DESC LIMIT ${INSTANCE_RUNS}`,
    )
    .all(now - INSTANCE_WINDOW_MS)
  if (runs.length < INSTANCE_LEAST || !runs.every(({ state }) => isFailure(state))) return null
  return `the last ${runs.length} runs of agents failed: ${runs[0]!.error ?? 'no reason is recorded'}`
}

/** Whether the wiring of a project that runs wakes any agent that needs a model provider. */
function wakesAnyAgent(db: Database): boolean {
  return (
    db
      .prepare(
        `SELECT 1 FROM projects p, json_each(p.spec, '$.wakes') t, json_each(t.value) a
         WHERE p.state NOT IN ('deleted', 'paused', 'draft') AND json_extract(a.value, '$.enabled')
           AND NOT EXISTS (SELECT 1 FROM agents g WHERE g.name = a.key AND g.state <> 'deleted'
             AND json_extract(g.spec, '$.provider') = ?) LIMIT 1`,
      )
      .get(SCRIPTED_PROVIDER) !== undefined
  )
}

/* Runs that wait because a model is unavailable, for whoever looks at how the instance is. */

interface ParkedRow {
  agent: string
  parked_since: number
  parked_until: number
  parked_why: string | null
}

const WHAT = 'r.agent, r.parked_since, r.parked_until, r.parked_why'
const ORDER = 'ORDER BY r.parked_until, r.seq'

/** Of all agents, practice included: it waits as well. Null: none does. */
function parkedRuns(db: Database): EngineStatus['parked'] {
  return summed(
    db.prepare<[], ParkedRow>(`SELECT ${WHAT} FROM runs r WHERE r.state = 'parked' ${ORDER}`).all(),
  )
}

/** Of a project. @param project id */
function parkedRunsOf(db: Database, project: string): EngineStatus['parked'] {
  return summed(
    db
      .prepare<[string], ParkedRow>(
        `SELECT ${WHAT} FROM runs r WHERE r.state = 'parked' AND r.practice = 0
           AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) ${ORDER}`,
      )
      .all(project),
  )
}

function summed(rows: readonly ParkedRow[]): EngineStatus['parked'] {
  const [next] = rows
  if (!next) return null
  const byAgent: Record<string, number> = {}
  for (const { agent } of rows) byAgent[agent] = (byAgent[agent] ?? 0) + 1
  return {
    runs: rows.length,
    since: Math.min(...rows.map(({ parked_since }) => parked_since)),
    until: next.parked_until,
    reason: next.parked_why ?? '',
    byAgent,
  }
}

/** "2 runs of agents wait for a model since 2026-11-23T01:00:00.000Z: overloaded; tried again at …". */
function parkedSentence(parked: NonNullable<EngineStatus['parked']>): string {
  const { runs } = parked
  return waitSentence(runs === 1 ? '1 run of an agent waits' : `${runs} runs of agents wait`, parked)
}

function waitSentence(who: string, { since, until, reason }: Omit<ParkedTurns, 'turns'>): string {
  return `${who} for a model since ${iso(since)}: ${reason}; tried again at ${iso(until)}`
}

/* The instance in figures: storage in use, counters, whether it is well. */

export interface UsageParts {
  declared: Declared
  /** As the writer holds it, or as a reader finds it. */
  storage: Pick<Capacity, 'measure' | 'refusal'>
  ctx: ReadContext
}

export function usageOf({ declared, storage, ctx }: UsageParts): Usage {
  const { sources, clock } = declared
  const now = clock.now()
  const m = storage.measure(now)
  const all = ctx.index.all()
  const oldest = all.length ? Math.min(...all.map((segment) => segment.minTs)) : null
  const listed = sources.live()
  return {
    db_bytes: m.dbBytes,
    wal_bytes: m.walBytes,
    free_bytes: m.freeBytes,
    events: all.reduce((sum, segment) => sum + segment.n, 0),
    max_bytes: m.maxBytes,
    max_bytes_source: m.maxBytesSource,
    disk_total: m.diskTotal,
    disk_free: m.diskFree,
    pct_used: m.pctUsed,
    ingest_paused: storage.refusal(now) !== null,
    oldest_event: oldest === null ? null : iso(oldest),
    sources: listed.map(({ name }) => ({ name, events: sources.store.queries.byName(name)?.events ?? 0 })),
  }
}

/** What the status is made of. */
interface StatusParts extends UsageParts {
  figures: Figures
  sealed: SealedSecrets
  /** Whether there is a model provider. */
  hasProvider(): boolean
  /** What is asked in place of the default provider that the environment names; null: nothing is. */
  otherDefault(): string | null
}

/** All but what was tallied, which is where it is counted. */
export function statusOf(parts: StatusParts): Omit<EngineStatus, 'tallies' | 'catalogSync'> {
  const { declared, storage, ctx, figures, sealed } = parts
  const { sources, clock } = declared
  const now = clock.now()
  const faults = [parts.otherDefault(), ...instanceFaults(declared, parts.hasProvider())]
  const m = storage.measure(now)
  const refusal = storage.refusal(now)
  const unreadable = sealed.look()
  return {
    ingestPaused: refusal !== null,
    pctUsed: m.pctUsed,
    detail:
      [refusal, unreadable.sentence, ...faults].filter((sentence) => sentence !== null).join('; ') || null,
    parked: parkedRuns(declared.store.db),
    parkedTurns: parkedTurns(declared.store.db),
    unreadableSecrets: unreadable.names,
    eventsStored: ctx.index.all().reduce((sum, segment) => sum + segment.n, 0),
    bySource: sources.live().map((source) => ({
      id: source.id,
      source: source.name,
      ingested: source.counters.events,
      rejected: source.counters.rejected,
      state: source.paused ? 'paused' : 'active',
    })),
    incidents: countedBy(declared.store.db, null).map(({ state, rank, n }) => ({
      ...{ state, n },
      severity: severityOfRank(rank),
    })),
    counters: { ...figures.pipeline, reads: figures.reads },
    dbBytes: m.dbBytes,
    walBytes: m.walBytes,
    maxBytes: m.maxBytes,
  }
}
