/**
 * Completes an edit before it is planned: what a deletion takes with it, which references hold,
 * which parts come along, where parts go that no project uses any more, and that neither a draft nor a
 * paused project runs anything.
 */

import { kindWord } from '../../schemas/kinds.ts'
import type { ToolPolicy, TriggerSpec, Wake } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { acceptedIn } from '../log/lifecycle.ts'
import {
  type Doc,
  documentOf,
  type Edit,
  equal,
  isPart,
  type PartKind,
  partKinds,
} from '../model/documents.ts'
import {
  DEFAULT_TEMPLATE,
  defaultProject,
  NOTED,
  ownerOf,
  type Pausable,
  type ProjectDoc,
  projectOf,
  projectsOf,
  putProject,
  type Stopped,
  tidyProject,
  usersOf,
  wiringOf,
  withoutParts,
  withUses,
} from '../model/project.ts'
import { checkEntities } from './entity.ts'
import { refuseGuarded } from './part-kind.ts'

/**
 * @throws SvcError invalid for a reference to nothing; conflict for a name or a part in use; wrong_state for a part
 *   of a draft.
 */
export function completeEdit(edit: Edit): void {
  detachRemoved(edit)
  checkParts(edit)
  checkEntities(edit)
  refuseNewInDrafts(edit)
  releaseFromDefault(edit)
  checkProjects(edit)
  housePartsOfNobody(edit)
  keepPaused(edit)
  handNotesOn(edit)
  refuseGuarded(edit)
}

/** Deleted parts leave every project, and deleted MCP servers every agent. */
function detachRemoved(edit: Edit): void {
  const gone = new Map<PartKind, Set<string>>()
  for (const { kind, key, doc } of edit.touched())
    if (doc === null && isPart(kind)) gone.set(kind, (gone.get(kind) ?? new Set()).add(key))
  if (gone.size === 0) return
  const isGone = (kind: PartKind, name: string) => gone.get(kind)?.has(name) ?? false
  for (const [id, doc] of projectsOf(edit)) {
    const without = withoutParts(doc, isGone)
    if (JSON.stringify(without) !== JSON.stringify(doc)) putProject(edit, id, without)
  }
  if (gone.has('mcp_server'))
    for (const [name, doc] of edit.all('agent')) {
      const servers = (doc.mcp_servers ?? []) as string[]
      const left = servers.filter((server) => !isGone('mcp_server', server))
      if (left.length === servers.length) continue
      const { mcp_servers: _servers, tools, ...rest } = doc
      const rows = ((tools ?? []) as ToolPolicy[]).filter(({ server }) => !isGone('mcp_server', server))
      edit.put('agent', name, {
        ...rest,
        ...(left.length ? { mcp_servers: left } : {}),
        ...(rows.length ? { tools: rows } : {}),
      })
    }
  const sources = gone.get('source')
  if (sources) refuseOrphanedTriggers(edit, sources)
}

function refuseOrphanedTriggers(edit: Edit, sources: ReadonlySet<string>): void {
  for (const source of sources) refuseRead(edit, source, readersOf(edit, source), 'delete them too')
}

/**
 * Refuses to delete a source that triggers read, and says of each what else it reads: with it that goes unwatched.
 * @param way what the call that is asked can do. @throws SvcError conflict
 */
export function refuseRead(edit: Edit, source: string, readers: readonly string[], way: string): void {
  if (readers.length === 0) return
  const word = readers.length === 1 ? 'trigger' : 'triggers'
  const named = readers.map((trigger) => {
    const others = otherSourcesOf(edit, trigger, source)
    return others.length ? `${trigger} (which reads ${others.join(', ')} too)` : trigger
  })
  fail('conflict', `source ${source} is read by ${word} ${named.join(', ')}; ${way}, or change them first`, {
    about: { kind: 'source', name: source },
  })
}

/** What a trigger reads beside a source. */
export const otherSourcesOf = (edit: Edit, trigger: string, source: string): string[] =>
  sourcesOf(edit.require('trigger', trigger)).filter((other) => other !== source)

/** Agents that nothing starts any more once these triggers are gone: neither another trigger, nor a handoff. Sorted. */
export function leftWithoutTrigger(edit: Edit, triggers: readonly string[]): string[] {
  const woken = new Set<string>()
  const otherwise = new Set<string>()
  for (const doc of projectsOf(edit).values()) {
    const { wakes, handoffs } = wiringOf(doc)
    for (const { trigger, agent } of wakes) (triggers.includes(trigger) ? woken : otherwise).add(agent)
    for (const { to } of handoffs) otherwise.add(to)
  }
  return [...woken].filter((agent) => !otherwise.has(agent)).sort()
}

/** Names of the triggers that read a source, sorted. */
export function readersOf(edit: Edit, source: string): string[] {
  return [...edit.all('trigger')]
    .filter(([, doc]) => doc.sources.includes(source))
    .map(([name]) => name)
    .sort()
}

/** A trigger's sources and an agent's MCP servers must be there. */
function checkParts(edit: Edit): void {
  for (const { kind, key, doc } of edit.touched()) {
    if (!doc) continue
    if (kind === 'trigger') requireAll(edit, 'source', sourcesOf(doc), { kind, name: key })
    if (kind === 'agent') requireAll(edit, 'mcp_server', serversOf(doc), { kind, name: key })
  }
}

const sourcesOf = (doc: Doc): string[] => documentOf('trigger', doc).sources
const serversOf = (doc: Doc): string[] => documentOf('agent', doc).mcp_servers ?? []

function requireAll(
  edit: Edit,
  kind: PartKind,
  names: readonly string[],
  from: { kind: 'trigger' | 'agent'; name: string },
): void {
  const missing = names.filter((name) => !edit.has(kind, name))
  if (missing.length)
    fail('invalid', `${from.kind} ${from.name}: no ${kindWord(kind)} is named ${missing.join(', ')}`, {
      field: kind === 'source' ? 'sources' : 'mcp_servers',
      about: from,
    })
}

/** Names are unique; what is wired is there, and comes along with what it needs. */
function checkProjects(edit: Edit): void {
  const touched = edit.touched().filter(({ kind, doc }) => kind === 'project' && doc !== null)
  const owner = new Map<string, string>()
  for (const [id, { name }] of projectsOf(edit)) {
    const other = owner.get(name)
    if (other !== undefined && touched.some(({ key }) => key === id || key === other))
      fail('conflict', `a project named ${name} exists`, {
        field: 'name',
        about: { kind: 'project', name: id },
      })
    owner.set(name, id)
  }
  for (const id of projectsTouchedBy(edit)) closeOver(edit, id)
}

/** Projects that are edited, or use a trigger or an agent that is. */
function projectsTouchedBy(edit: Edit): string[] {
  const changed = { trigger: new Set<string>(), agent: new Set<string>(), project: new Set<string>() }
  for (const { kind, key, doc } of edit.touched())
    if (doc && (kind === 'trigger' || kind === 'agent' || kind === 'project')) changed[kind].add(key)
  const usesChanged = ({ uses }: ProjectDoc, kind: 'trigger' | 'agent') =>
    changed[kind].size > 0 && Object.keys(uses[kind] ?? {}).some((name) => changed[kind].has(name))
  return [...projectsOf(edit)]
    .filter(
      ([id, doc]) => changed.project.has(id) || usesChanged(doc, 'trigger') || usesChanged(doc, 'agent'),
    )
    .map(([id]) => id)
}

function closeOver(edit: Edit, id: string): void {
  const doc = projectOf(edit, id)
  const label = `project ${doc.name}`
  const { wakes, handoffs } = wiringOf(doc)
  const about = { kind: 'project', name: id }
  refuseFindingLoops(edit, wakes)
  const ends = wiredIn(doc)
  const wired: [PartKind, string[]][] = [
    ['trigger', ends.trigger],
    ['agent', ends.agent],
    ...partKinds.map((kind): [PartKind, string[]] => [kind, Object.keys(doc.uses[kind] ?? {})]),
  ]
  for (const [kind, names] of wired) requireWired(edit, kind, names, label, about)
  for (const { agent, to } of handoffs)
    if (agent === to)
      fail('invalid', `${label}: ${agent} cannot hand over to itself`, { field: 'handoffs', about })
  const wanted = new Map<string, { kind: PartKind; name: string }>()
  const want = (kind: PartKind, name: string) => {
    if (!doc.uses[kind]?.[name]) wanted.set(`${kind}:${name}`, { kind, name })
  }
  const triggers = new Set([...ends.trigger, ...Object.keys(doc.uses.trigger ?? {})])
  const agents = new Set([...ends.agent, ...Object.keys(doc.uses.agent ?? {})])
  for (const trigger of triggers) {
    want('trigger', trigger)
    for (const source of sourcesOf(edit.require('trigger', trigger))) want('source', source)
  }
  for (const agent of agents) {
    want('agent', agent)
    for (const server of serversOf(edit.require('agent', agent))) want('mcp_server', server)
  }
  // A draft that holds parts is of a release that let them in: it takes no more.
  if (wanted.size && !doc.draft) putProject(edit, id, withUses(doc, [...wanted.values()]))
}

/** The triggers and agents that a project's wires lead from and to. */
function wiredIn(doc: ProjectDoc): { trigger: string[]; agent: string[] } {
  const { wakes, handoffs } = wiringOf(doc)
  return {
    trigger: wakes.map(({ trigger }) => trigger),
    agent: [...wakes.map(({ agent }) => agent), ...handoffs.flatMap(({ agent, to }) => [agent, to])],
  }
}

/**
 * Takes parts of other projects out of the Default project with what needed them there: a trigger that read the source
 * was deleted, say. What is needed still comes along again as the project is checked. A catalog file does not list the
 * Default project, so a part that stayed would show up in every plan.
 */
function releaseFromDefault(edit: Edit): void {
  const found = [...projectsOf(edit)].find(([, { template }]) => template === DEFAULT_TEMPLATE)
  const was = found && projectBefore(edit, found[0])
  if (!was) return
  const [id, doc] = found
  const touched = new Set(edit.touched().map(({ kind, key }) => `${kind}:${key}`))
  const [before, now] = [wiredIn(was), wiredIn(doc)]
  const freed = new Set<string>()
  const free = (kind: PartKind, names: readonly string[]) => {
    for (const name of names)
      if (doc.uses[kind]?.[name] && ownerOf(edit, kind, name) !== null) freed.add(`${kind}:${name}`)
  }
  const release = (end: 'trigger' | 'agent', need: PartKind, needsOf: (doc: Doc) => string[]) => {
    const wired = new Set(now[end])
    free(
      end,
      before[end].filter((name) => !wired.has(name)),
    )
    for (const name of Object.keys(was.uses[end] ?? {})) {
      const stays = doc.uses[end]?.[name] && !freed.has(`${end}:${name}`)
      const stored: Doc | undefined = edit.storedNow(end, name)
      if (stored && (!stays || touched.has(`${end}:${name}`))) free(need, needsOf(stored))
    }
  }
  release('trigger', 'source', sourcesOf)
  release('agent', 'mcp_server', serversOf)
  if (freed.size > 0)
    putProject(
      edit,
      id,
      withoutParts(doc, (kind, name) => freed.has(`${kind}:${name}`)),
    )
}

function requireWired(
  edit: Edit,
  kind: PartKind,
  names: readonly string[],
  label: string,
  about: { kind: string; name: string },
): void {
  const missing = [...new Set(names.filter((name) => !edit.has(kind, name)))]
  if (missing.length)
    fail('invalid', `${label}: no ${kindWord(kind)} is named ${missing.join(', ')}`, { field: kind, about })
}

/**
 * A part no project uses joins the Default project; a skill goes with its last project, unless this
 * edit makes it (SPEC.md, Skill lifecycle).
 */
function housePartsOfNobody(edit: Edit): void {
  const before = new Set<string>()
  const used = new Set<string>()
  for (const doc of projectsOf(edit).values())
    for (const kind of partKinds)
      for (const name of Object.keys(doc.uses[kind] ?? {})) used.add(`${kind}:${name}`)
  const candidates: { kind: PartKind; name: string }[] = []
  const consider = (kind: PartKind, name: string) => {
    const id = `${kind}:${name}`
    if (before.has(id) || used.has(id) || !edit.has(kind, name)) return
    before.add(id)
    if (kind === 'skill' && edit.stored('skill', name)) edit.remove('skill', name)
    else candidates.push({ kind, name })
  }
  for (const { kind, key, stored } of edit.touched()) {
    if (isPart(kind)) consider(kind, key)
    else if (kind === 'project' && stored)
      for (const part of partKinds)
        for (const name of Object.keys(documentOf('project', stored.doc).uses[part] ?? {}))
          consider(part, name)
  }
  if (candidates.length === 0) return
  const id = defaultProject(edit)
  putProject(edit, id, withUses(projectOf(edit, id), candidates))
  // What they need comes along, as in any project: else the next edit would bring it.
  closeOver(edit, id)
}

/*
 * A draft has nothing: its plan makes what it needs when it is applied (SPEC.md, Project lifecycle). A part that joined
 * it before would run though the draft watches nothing, and go with it.
 */

/** What is said of a part that is to join a draft, or of an agent that is to be woken there. @throws SvcError wrong_state */
export function refuseInDraft({ name }: Pick<ProjectDoc, 'name'>): never {
  return fail(
    'wrong_state',
    `project ${name} is a draft, which has no parts and wakes nobody; apply its plan first, or choose another project`,
    { state: 'draft', accepts: acceptedIn('project', 'draft') },
  )
}

/** What a draft gains in an edit is refused; what it has of an older release may stay, and leave. */
function refuseNewInDrafts(edit: Edit): void {
  for (const { kind, key, stored, revive } of edit.touched()) {
    const next = kind === 'project' && revive === null ? edit.get('project', key) : undefined
    if (!next?.draft) continue
    const before = projectBefore(edit, key)
    const was = before?.draft ? before : undefined
    for (const part of partKinds)
      for (const name of Object.keys(next.uses[part] ?? {})) {
        if (was?.uses[part]?.[name]) continue
        const label = `${kindWord(part)} ${name}`
        // Undoing an apply leaves what was made in the project since.
        if (stored && !was)
          fail(
            'conflict',
            `project ${next.name} would be a draft again, and a draft has no parts: ${label} came since; delete it, or take it out of the project first`,
          )
        refuseInDraft(next)
      }
    const isNew = ({ trigger, agent, enabled }: Wake) =>
      was?.wakes?.[trigger]?.[agent] === undefined || (enabled === true && !was.wakes[trigger][agent].enabled)
    if (wiringOf(next).wakes.some(isNew)) refuseInDraft(next)
  }
}

/** A project as it is stored, in the names that the edit gives. */
function projectBefore(edit: Edit, id: string): ProjectDoc | undefined {
  const stored = edit.storedNow('project', id)
  return stored && documentOf('project', stored)
}

/*
 * A paused project runs nothing, whichever way something came into it: a wake that is on is off until it is resumed, and
 * noted for that. So is a trigger that no running project uses, and a source that is new there, where the pause took sources.
 */

/** Pauses a part unless it is paused, or another running project uses it. @returns whether it did. */
export function stopPart(edit: Edit, kind: Pausable, name: string, id: string): boolean {
  const part = edit.get(kind, name)
  if (!part || part.paused || isNeeded(edit, kind, name, id)) return false
  edit.put(kind, name, { ...part, paused: true })
  return true
}

/** Whether a running project uses a part. @param but id of a project that does not count */
export function isNeeded(edit: Edit, kind: Pausable, name: string, but?: string): boolean {
  return usersOf(edit, kind, name).some((user) => {
    const { paused, draft } = projectOf(edit, user)
    return user !== but && !paused && !draft
  })
}

function keepPaused(edit: Edit): void {
  const paused = [...projectsOf(edit)].filter(([, doc]) => doc.paused)
  const moved = paused.length ? partsMovedIn(edit) : new Set<string>()
  for (const [id, doc] of paused) {
    const stopped = {
      wakes: notedWakes(doc),
      triggers: notedParts(edit, id, 'trigger', moved),
      sources: notedParts(edit, id, 'source', moved),
    }
    const next = tidyProject({ ...doc, wakes: wakesOff(doc), stopped })
    if (!equal(next, doc)) edit.put('project', id, next)
  }
}

/** kind:name of the parts that an edit touches, itself or in a project that uses or used them. */
function partsMovedIn(edit: Edit): Set<string> {
  const moved = new Set<string>()
  for (const { kind, key } of edit.touched()) {
    if (isPart(kind)) moved.add(`${kind}:${key}`)
    if (kind !== 'project') continue
    for (const one of [projectBefore(edit, key), edit.get('project', key)])
      for (const part of Object.keys(NOTED) as Pausable[])
        for (const name of Object.keys(one?.uses[part] ?? {})) moved.add(`${part}:${name}`)
  }
  return moved
}

/** What a paused project has to start again of a kind, once what moved and may not run there is stopped. */
function notedParts(
  edit: Edit,
  id: string,
  kind: Pausable,
  moved: ReadonlySet<string>,
): Record<string, true> {
  const { uses, stopped } = projectOf(edit, id)
  const noted = { ...stopped?.[NOTED[kind]] }
  const used = projectBefore(edit, id)?.uses[kind]
  // Sources take events in while their project is paused, unless it was paused with them; one that was there may be
  // resumed by itself.
  const takes = kind === 'trigger' || Object.keys(noted).length > 0
  const stops = (name: string) => takes && (kind === 'trigger' || !used?.[name] || !edit.stored(kind, name))
  for (const name of Object.keys(uses[kind] ?? {})) {
    if (!moved.has(`${kind}:${name}`)) continue
    if (stops(name) && stopPart(edit, kind, name, id)) noted[name] = true
    // One that runs again needs no resuming: what a hand stops of it later stays stopped.
    else if (noted[name] && !edit.get(kind, name)?.paused) delete noted[name]
  }
  return noted
}

/** The wakes that resuming a paused project switches on: of those that are there. */
function notedWakes(doc: ProjectDoc): NonNullable<Stopped['wakes']> {
  const noted: NonNullable<Stopped['wakes']> = {}
  for (const { trigger, agent, enabled } of wiringOf(doc).wakes)
    if (enabled || doc.stopped?.wakes?.[trigger]?.[agent])
      noted[trigger] = { ...noted[trigger], [agent]: true }
  return noted
}

const wakesOff = ({ wakes = {} }: ProjectDoc): NonNullable<ProjectDoc['wakes']> =>
  Object.fromEntries(
    Object.entries(wakes).map(([trigger, agents]) => [
      trigger,
      Object.fromEntries(Object.keys(agents).map((agent) => [agent, { enabled: false }])),
    ]),
  )

/**
 * A paused project notes what it stopped. When it goes, or lets go of such a part, a paused project
 * that still uses the part has the note, so that resuming that one starts it again.
 */
function handNotesOn(edit: Edit): void {
  if (edit.saysNotes) return
  for (const { kind, key, stored } of edit.touched()) {
    if (kind !== 'project' || !stored) continue
    const was = documentOf('project', stored.doc).stopped
    const is = edit.get('project', key)?.stopped
    for (const part of Object.keys(NOTED) as Pausable[])
      for (const name of Object.keys(was?.[NOTED[part]] ?? {})) {
        const now: Doc | undefined = edit.get(part, name)
        if (!is?.[NOTED[part]]?.[name] && now?.paused) noteElsewhere(edit, key, part, name)
      }
  }
}

function noteElsewhere(edit: Edit, id: string, part: Pausable, name: string): void {
  const users = [...projectsOf(edit)].filter(
    ([other, doc]) => other !== id && doc.paused && doc.uses[part]?.[name],
  )
  const [heir] = users
  if (!heir || users.some(([, doc]) => doc.stopped?.[NOTED[part]]?.[name])) return
  const [other, doc] = heir
  const noted = { ...doc.stopped?.[NOTED[part]], [name]: true as const }
  putProject(edit, other, { ...doc, stopped: { ...doc.stopped, [NOTED[part]]: noted } })
}

/*
 * Findings are events, so a trigger may watch them; an agent it wakes writes findings itself. A trigger
 * over findings wakes an agent only where its filters say whose findings, or which verdicts, and not the
 * agent's own.
 */

/** @throws SvcError invalid */
function refuseFindingLoops(edit: Edit, wakes: readonly { trigger: string; agent: string }[]): void {
  for (const { trigger, agent } of wakes) {
    const spec = edit.get('trigger', trigger)
    const readsFindings = spec?.sources.some((source) => edit.get('source', source)?.connector === 'finding')
    if (!spec || !readsFindings) continue
    const filters = (spec.filters ?? []).filter(({ op }) => op === 'eq' || op === 'in')
    const agents = valuesOf(filters, 'agent')
    if (agents.includes(agent.toLowerCase()))
      fail('invalid', `trigger ${trigger} waits for findings of ${agent}, and would have it wake itself`, {
        field: 'filters',
      })
    if (agents.length === 0 && valuesOf(filters, 'verdict').length === 0)
      fail(
        'invalid',
        `trigger ${trigger} reads findings: give it a filter on agent or verdict before it wakes ${agent}, or it would have it wake itself`,
        { field: 'filters' },
      )
  }
}

function valuesOf(filters: NonNullable<TriggerSpec['filters']>, field: string): string[] {
  return filters
    .filter((filter) => filter.field === field)
    .flatMap(({ value }) => [value ?? []].flat().map((one) => String(one).toLowerCase()))
}
