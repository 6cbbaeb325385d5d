/** What a project does, in sentences (SPEC.md, Project: the project page). */

import { durationWords } from '../../../schemas/duration-words.ts'
import { countWords, listWords } from '../../../schemas/plain-words.ts'
import type {
  ChangeSet,
  DependentsResult,
  Project,
  ProjectOutline,
  ProjectToday,
  ResourceRow,
  ResourcesResult,
  Run,
  ProjectSummary as Shown,
  SkillSpec,
  Source,
  TriggerSpec,
} from '../../../schemas/types.ts'
import { cooldownSentence, sentenceOf } from '../../../schemas/words.ts'
import { type FindingsParts, todayOf } from '../../agents/findings.ts'
import { type RunRow, runQueries } from '../../agents/runs/queries.ts'
import { presentRun } from '../../agents/runs/run-reads.ts'
import { fail } from '../../errors.ts'
import type { Database } from '../../log/store/handle.ts'
import { Edit, type PartKind, partKinds } from '../../model/documents.ts'
import { type ProjectDoc, projectsOf, wiringOf } from '../../model/project.ts'
import { isoOrNull } from '../../model/units.ts'
import { findingsTold } from '../../outbox/rows.ts'
import { isSubscribed } from '../../outbox/subscriptions.ts'
import { activities } from '../../triggers/reads.ts'
import type { Declared } from '../declared.ts'
import { belongings } from '../operations.ts'
import { agentsOf, listMcpServers, listTriggers } from '../parts.ts'
import { requireProject, skillLoads } from '../skill-writes.ts'
import { dependentsOf } from '../source-writes.ts'
import { projectNamed } from './project-writes.ts'

/** @throws SvcError not_found */
export function outlineOf(declared: Declared, word: string): ProjectOutline {
  const doc = docOf(declared, word)
  const { wakes, handoffs } = wiringOf(doc)
  const watches = watchesOf(declared, doc)
  const triggers = names(doc, 'trigger').map((name) => ({
    name,
    spec: specOf<TriggerSpec>(declared, 'trigger', name),
  }))
  const loadedBy = skillLoads(declared.store.db, requireProject(declared, word), declared.clock.now())
  const woken = wokenAgents(declared, doc)
  const agents = names(doc, 'agent').map((name) => {
    const mine = wakes.filter((wake) => wake.agent === name)
    const to = handoffs.filter((row) => row.to === name)
    const runs_on = mine.length ? 'trigger' : to.length ? 'handoff' : 'nothing'
    return {
      name,
      sentence: agentSentence(
        mine.map((wake) => wake.trigger),
        to,
      ),
      enabled: woken.has(name),
      runs_on,
      handoffs: handoffs
        .filter((row) => row.agent === name)
        .map(({ verdict, to: agent, cooldown }) => ({ verdict, agent, ...(cooldown ? { cooldown } : {}) })),
    }
  })
  return {
    sentence: projectSentence(doc, watches.length, triggers, woken, (name) =>
      isSubscribed(declared.store.db, name),
    ),
    watches,
    wakes: triggers.map(({ name, spec }) => ({
      trigger: name,
      sentence: sentenceOf(spec),
      cooldown_sentence: cooldownSentence(spec),
      paused: spec.paused ?? false,
    })),
    agents,
    skills: names(doc, 'skill').map((name) => ({
      name,
      description: specOf<SkillSpec>(declared, 'skill', name).description,
      loaded_by: loadedBy(name),
    })),
  }
}

/** The sources of a project and how each is doing. */
export function watchesOf({ sources }: Declared, doc: ProjectDoc): ProjectOutline['watches'] {
  return sources.doing(names(doc, 'source')).map(({ name, connector, mode, health }) => ({
    source: name,
    title: name,
    connector,
    description: `${connector}, ${mode}`,
    state: stateOf(health.status, health.last_ingest, mode),
    last_event_at: health.last_ingest,
    detail: health.reason,
  }))
}

function stateOf(status: string, lastIngest: string | null, mode: string): string {
  if (status === 'paused') return 'paused'
  if (status === 'error' || status === 'refused') return 'error'
  return lastIngest === null && mode !== 'reference' ? 'waiting' : 'receiving'
}

/** Agents that something wakes: a trigger that is on, or a handoff from one of them; the first kind first. */
export function wokenAgents(
  { kinds }: Declared,
  doc: ProjectDoc,
): ReadonlyMap<string, 'trigger' | 'handoff'> {
  const { wakes, handoffs } = wiringOf(doc)
  const isOn = (trigger: string) => kinds.trigger.find(trigger)?.doc.paused !== true
  const woken = new Map<string, 'trigger' | 'handoff'>()
  for (const { trigger, agent, enabled } of wakes) if (enabled && isOn(trigger)) woken.set(agent, 'trigger')
  for (let known = -1; known !== woken.size; ) {
    known = woken.size
    for (const { agent, to } of handoffs) if (woken.has(agent) && !woken.has(to)) woken.set(to, 'handoff')
  }
  return woken
}

function projectSentence(
  doc: ProjectDoc,
  sources: number,
  triggers: readonly { name: string; spec: TriggerSpec }[],
  woken: ReadonlyMap<string, 'trigger' | 'handoff'>,
  isHeard: (trigger: string) => boolean,
): string {
  if (sources + triggers.length + names(doc, 'agent').length === 0) return 'Nothing is in this project yet.'
  const watches = sources ? `Watches ${countWords(sources, 'source')}` : 'Watches no source yet'
  if (triggers.length === 0) return `${watches}; nothing wakes an agent yet.`
  const wakesOne = ({ name }: { name: string }) =>
    Object.values(doc.wakes?.[name] ?? {}).some(({ enabled }) => enabled)
  // What wakes someone is told; the others are counted.
  const told = triggers.find((trigger) => wakesOne(trigger) && !trigger.spec.paused) ?? triggers[0]!
  const first = sentenceOf(told.spec).replace(/^[WE]/, (letter) => letter.toLowerCase())
  const more = triggers.length > 1 ? ` (and ${triggers.length - 1} more)` : ''
  const by = (how: 'trigger' | 'handoff') => [...woken].filter(([, one]) => one === how).map(([name]) => name)
  const [lookers, taking] = [by('trigger').sort(), by('handoff').sort()]
  const unled = isHeard(told.name) ? 'tells whoever is subscribed' : 'wakes no agent yet'
  const wakes = lookers.length ? `wakes ${listNames(lookers)}` : unled
  const hands = lookers.length === 1 ? 'which hands' : 'which hand'
  return `${watches}; ${first}${more}, ${wakes}${taking.length ? `, ${hands} over to ${listNames(taking)} by verdict` : ''}.`
}

function agentSentence(
  triggers: readonly string[],
  to: readonly { agent: string; verdict: string; cooldown?: string }[],
): string {
  const parts: string[] = []
  if (triggers.length) parts.push(`looks first when ${listNames(triggers)} fires`)
  for (const { agent, verdict, cooldown } of to)
    parts.push(
      `digs in when ${agent} concludes ${verdict}${cooldown ? `, at most once every ${durationWords(cooldown)}` : ''}`,
    )
  return parts.length ? parts.join('; ') : 'is woken by nothing yet'
}

/** Of many names the first ones are enough for a sentence. */
const NAMED_MAX = 4
const listNames = (all: readonly string[]): string =>
  listWords(
    all.length <= NAMED_MAX ? all : [...all.slice(0, NAMED_MAX - 1), `${all.length - NAMED_MAX + 1} more`],
  )
const names = (doc: ProjectDoc, kind: keyof ProjectDoc['uses']): string[] =>
  Object.keys(doc.uses[kind] ?? {}).sort()

function docOf(declared: Declared, word: string): ProjectDoc {
  return declared.kinds.project.find(requireProject(declared, word))!.doc
}

function specOf<T>({ kinds }: Declared, kind: 'trigger' | 'skill', name: string): T {
  const stored = kinds[kind].find(name) ?? fail('not_found', `no ${kind} is named ${name}`)
  return stored.doc as T
}

/* A project with what happened in it. */

const LOG_MAX = 100
const RUNS_MAX = 20

type ProjectSummary = Project & {
  log: Shown['log']
  /** Newest first, whatever they came to. */
  runs: Run[]
  runs_total: number
  sources: { name: string; last_event_at: string | null; events: number }[]
  triggers: { name: string; paused: boolean; last_fired: string | null }[]
  last_fired: string | null
  today: ProjectToday
}

/** @param id project id. */
export function summaryOf(declared: Declared, findings: FindingsParts, id: string): ProjectSummary {
  const project = projectNamed(declared, id)
  const { change_sets } = declared.changes.list({
    project: id,
    kind: null,
    key: null,
    before: null,
    limit: LOG_MAX,
  })
  const activityOf = activities(declared.store.db, declared.clock.now())
  const firedAt = (name: string) => activityOf(name).lastFired
  const names = (kind: string) =>
    project.objects.filter((o) => o.kind === kind && !o.missing).map((o) => o.name)
  return {
    ...project,
    log: change_sets.map((set) => ({
      at: set.at,
      action: actionOf(set, id),
      detail: `${set.summary} (${set.actor})`,
    })),
    ...runsOf(declared.store.db, id),
    sources: names('source').map((name) => {
      const row = declared.sources.store.queries.byName(name)
      const last = row?.last_ingest ?? null
      return {
        name,
        last_event_at: isoOrNull(last),
        events: row?.events ?? 0,
      }
    }),
    triggers: names('trigger').map((name) => ({
      name,
      paused: declared.kinds.trigger.find(name)?.doc.paused === true,
      last_fired: isoOrNull(firedAt(name)),
    })),
    last_fired: isoOrNull(
      names('trigger').reduce<number | null>((last, name) => later(last, firedAt(name)), null),
    ),
    today: todayOf(findings, id),
  }
}

/** What a change-set did to a project, in the words of its history (SPEC.md, Project). */
function actionOf({ changes, summary }: ChangeSet, id: string): ProjectSummary['log'][number]['action'] {
  const own = changes.find(({ kind, key }) => kind === 'project' && key === id)
  if (own?.action === 'create') return 'created'
  const paused = own?.fields.find(({ path }) => path === '/paused')
  if (paused) return paused.to === true ? 'paused' : 'resumed'
  // A repair is told apart by what it says of itself: what it changes another edit could change, too.
  return / repaired$/.test(summary) ? 'repaired' : 'updated'
}

/** Runs of a project, newest first, and how many there are. */
function runsOf(db: Database, project: string): { runs: Run[]; runs_total: number } {
  const { projectsOf } = runQueries(db)
  const told = findingsTold(db)
  const rows = db
    .prepare<[string, number], RunRow>(
      'SELECT r.* FROM run_projects p JOIN runs r ON r.id = p.run_id WHERE p.project = ? ORDER BY r.seq DESC LIMIT ?',
    )
    .all(project, RUNS_MAX)
  const total = db
    .prepare<[string], number>('SELECT count(*) FROM run_projects WHERE project = ?')
    .pluck()
    .get(project)!
  return { runs: rows.map((row) => presentRun(row, projectsOf.all(row.id), told(row.id))), runs_total: total }
}

const later = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)

/* Every part with the projects that use it, and what depends on a part. */

export function listResources(declared: Declared): ResourcesResult {
  const belongs = belongings(declared)
  const names = new Map(declared.kinds.project.list().map(({ key, name }) => [key, name]))
  const row = (
    kind: PartKind,
    name: string,
    what: string,
    state: string,
    more: Partial<ResourceRow>,
  ): ResourceRow => {
    const { projects, owned_by, customized } = belongs(kind, name)
    return {
      name,
      what,
      state,
      used_by: projects.map((id) => ({ id, name: names.get(id) ?? id })),
      owned_by,
      customized,
      ...more,
    }
  }
  const sources = declared.sources.list((name) => belongs('source', name))
  return {
    sources: sources.map((source) =>
      row('source', source.name, whatOfSource(source), source.health.status, {
        connector: source.connector,
        last_event_at: source.health.last_ingest,
      }),
    ),
    triggers: listTriggers(declared).map((trigger) =>
      row('trigger', trigger.name, sentenceOf(trigger), trigger.state, { sources: trigger.sources }),
    ),
    agents: agentsOf(declared, null).map((agent) =>
      row('agent', agent.name, firstLine(agent.prompt), agent.enabled ? 'on' : 'off', {
        verdicts: agent.verdicts.map(({ verdict }) => verdict),
      }),
    ),
    tools: listMcpServers(declared).map((server) =>
      row(
        'mcp_server',
        server.name,
        server.url.startsWith('stdio:')
          ? `tools of the program ${server.url.slice(6)}`
          : `tools of ${new URL(server.url).host}`,
        'active',
        { url: server.url },
      ),
    ),
    skills: declared.kinds.skill
      .list()
      .map(({ name, doc }) => row('skill', name, doc.description, 'exists', {})),
    keys: declared.keys
      .list()
      .filter(({ state }) => state === 'active')
      .map((key) => ({
        name: key.name,
        what: `API key with the scopes ${key.scopes.join(', ')}`,
        state: key.state,
        used_by: key.project ? [{ id: key.project, name: names.get(key.project) ?? key.project }] : [],
        prefix: key.prefix,
        last_used_at: key.last_used_at,
      })),
  }
}

/**
 * What would go or be changed with a part: of a source what a cascade deletes and whom it leaves without a trigger, as
 * of a trigger; of others the parts that refer to it, which stay.
 * @throws SvcError not_found; invalid for a kind that is none
 */
export function listDependents(declared: Declared, kind: string, name: string): DependentsResult {
  if (!(partKinds as readonly string[]).includes(kind))
    fail('invalid', `kind must be one of ${partKinds.join(', ')}`, { field: 'kind' })
  const edit = new Edit(declared.kinds, () => undefined)
  edit.require(kind as PartKind, name)
  if (kind === 'source' || kind === 'trigger') return { dependents: dependentsOf(edit, kind, name) }
  if (kind === 'skill') return { dependents: [] }
  const dependents = new Set<string>()
  if (kind === 'mcp_server') {
    for (const [agent, doc] of edit.all('agent'))
      if ((doc.mcp_servers ?? []).includes(name)) dependents.add(agent)
  } else
    for (const { handoffs } of projectsOf(edit).values())
      for (const [from, verdicts] of Object.entries(handoffs ?? {}))
        if (Object.values(verdicts).some((targets) => targets[name])) dependents.add(from)
  return { dependents: [...dependents].sort().map((agent) => ({ kind: 'agent', name: agent, stays: true })) }
}

function whatOfSource({ connector, mode }: Source): string {
  const how = { push: 'pushed to its ingest URL', poll: 'polled', reference: 'documents, always surfaced' }
  return `${connector} events, ${how[mode]}`
}

function firstLine(prompt: string): string {
  const line = prompt.trim().split('\n')[0]!
  return line.length > 120 ? `${line.slice(0, 117)}…` : line
}
