/**
 * A project as a document: what it is, which parts it uses, which trigger wakes which agent, and
 * who takes over on whose verdict. Sets and relations are objects by name, so that two writers who
 * touch different ones never meet.
 */
import { randomBytes } from 'node:crypto'
import { grouped } from '../../schemas/grouped.ts'
import type { AgentHandoff, Wake, Wiring } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { type Doc, type Edit, type PartKind, type ProjectDoc, partKinds, type Use } from './documents.ts'

export type { Planned, ProjectDoc, Stopped, Use } from './documents.ts'

export const DEFAULT_TEMPLATE = 'default'
export const DEFAULT_NAME = 'Default'
export const CUSTOM_TEMPLATE = 'custom'

/** The parts a pause stops, and where it notes them. */
export const NOTED = { trigger: 'triggers', source: 'sources' } as const
export type Pausable = keyof typeof NOTED

/** A project's document as it would be. @throws SvcError not_found */
export function projectOf(edit: Edit, id: string): ProjectDoc {
  return edit.get('project', id) ?? fail('not_found', `no project has the id ${id}`)
}

/** Every project as it would be, by id. */
export function projectsOf(edit: Edit): Map<string, ProjectDoc> {
  return edit.all('project')
}

/** Stages a project's document without its empty parts. @param base as for Edit.put. */
export function putProject(edit: Edit, id: string, doc: ProjectDoc, base?: number): void {
  edit.put('project', id, tidyProject(doc), base)
}

/** The id behind an id or a name. */
export function findProject(edit: Edit, word: string): string | undefined {
  if (edit.has('project', word)) return word
  for (const [id, doc] of projectsOf(edit)) if (doc.name === word) return id
  return undefined
}

/** The Default project, made when there is none yet (SPEC.md, What the service does 4). @returns its id. */
export function defaultProject(edit: Edit): string {
  for (const [id, doc] of projectsOf(edit)) if (doc.template === DEFAULT_TEMPLATE) return id
  const id = newProjectId(edit)
  const names = new Set([...projectsOf(edit).values()].map((doc) => doc.name))
  // Of before the name was kept for it.
  let name = DEFAULT_NAME
  for (let n = 2; names.has(name); n++) name = `${DEFAULT_NAME} ${n}`
  putProject(edit, id, { name, template: DEFAULT_TEMPLATE, uses: {} })
  return id
}

/** The form of their ids. */
export const PROJECT_ID = /^uc_[0-9a-f]{10}$/

/** An id no project has: uc_ and 10 hex digits. */
export function newProjectId(edit: Edit): string {
  let id: string
  do id = `uc_${randomBytes(5).toString('hex')}`
  while (edit.has('project', id))
  return id
}

/** Ids of the projects that use a part, as it would be. */
export function usersOf(edit: Edit, kind: PartKind, name: string): string[] {
  return [...projectsOf(edit)].filter(([, doc]) => doc.uses[kind]?.[name] !== undefined).map(([id]) => id)
}

/** The project a part belongs to; null when it is nobody's or the Default project's. */
export function ownerOf(edit: Edit, kind: PartKind, name: string): string | null {
  for (const [id, doc] of projectsOf(edit))
    if (doc.uses[kind]?.[name]?.owned && doc.template !== DEFAULT_TEMPLATE) return id
  return null
}

/**
 * Gives a part of a project another name, so that its address, its history and what it spent go along. One that
 * another project uses keeps its name there; so does one whose secrets, bound to the name, cannot be read here.
 * @returns whether it has that name now
 */
export function renameAlone(edit: Edit, id: string, kind: PartKind, from: string, to: string): boolean {
  const [user, ...others] = usersOf(edit, kind, from)
  if (user !== id || others.length > 0 || edit.has(kind, to) || edit.stored(kind, from)?.unreadable.length)
    return false
  edit.rename(kind, from, to)
  return true
}

/** The parts of a project, kinds in the order they are made, names sorted. */
export function partsOf(doc: ProjectDoc): { kind: PartKind; name: string; use: Use }[] {
  return partKinds.flatMap((kind) =>
    Object.entries(doc.uses[kind] ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, use]) => ({ kind, name, use })),
  )
}

/** Parts join a project; one that is there keeps how it is used, unless it now belongs to it. */
export function withUses(
  doc: ProjectDoc,
  parts: readonly { kind: PartKind; name: string; owned?: boolean }[],
): ProjectDoc {
  const uses: ProjectDoc['uses'] = { ...doc.uses }
  const copied = new Set<PartKind>()
  for (const { kind, name, owned } of parts) {
    if (!copied.has(kind)) uses[kind] = { ...uses[kind] }
    copied.add(kind)
    const known = uses[kind]![name]
    uses[kind]![name] = owned || known?.owned ? { owned: true } : {}
  }
  return { ...doc, uses }
}

/** A project without some parts: what it wired and stopped of them goes too. */
export function withoutParts(doc: ProjectDoc, isGone: (kind: PartKind, name: string) => boolean): ProjectDoc {
  const keep = <T>(kind: PartKind, all: Record<string, T> | undefined) =>
    Object.fromEntries(Object.entries(all ?? {}).filter(([name]) => !isGone(kind, name)))
  const uses = Object.fromEntries(partKinds.map((kind) => [kind, keep(kind, doc.uses[kind])]))
  const mapValues = <T, U>(all: Record<string, T>, fn: (value: T) => U) =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [key, fn(value)]))
  return {
    ...doc,
    uses,
    wakes: mapValues(keep('trigger', doc.wakes), (agents) => keep('agent', agents)),
    handoffs: mapValues(keep('agent', doc.handoffs), (verdicts) =>
      mapValues(verdicts, (targets) => keep('agent', targets)),
    ),
    ...(doc.stopped
      ? {
          stopped: {
            wakes: mapValues(keep('trigger', doc.stopped.wakes), (agents) => keep('agent', agents)),
            triggers: keep('trigger', doc.stopped.triggers),
            sources: keep('source', doc.stopped.sources),
          },
        }
      : {}),
  }
}

/** Empty relations say nothing: without them, equal projects are equal documents. */
export function tidyProject({ uses, ...doc }: ProjectDoc): Doc {
  // A use is {} or {owned}: unlike other empty objects, it says that the part is there.
  const kept = Object.entries(uses).filter(([, names]) => names && Object.keys(names).length > 0)
  return { ...prune(doc, ['params']), uses: Object.fromEntries(kept) }
}

function prune(value: Record<string, unknown>, whole: readonly string[]): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined || entry === '') continue
    if (typeof entry === 'object' && entry !== null && !Array.isArray(entry) && !whole.includes(key)) {
      const inner = prune(entry as Record<string, unknown>, whole)
      if (Object.keys(inner).length) out[key] = inner
    } else out[key] = entry
  }
  return out
}

/* Wakes and handoffs of a project (SPEC.md, Project: it holds its own wiring). */

export const HANDOFF_COOLDOWN = '30m'

/** The wiring as lists, sorted. A wake that a pause switched off says so, so that it can be written back as it is. */
export function wiringOf(doc: Pick<ProjectDoc, 'wakes' | 'handoffs' | 'stopped'>): Wiring {
  return {
    wakes: sorted(doc.wakes).flatMap(([trigger, agents]) =>
      sorted(agents).map(([agent, { enabled }]) => ({
        trigger,
        agent,
        enabled,
        ...(!enabled && isNoted(doc, trigger, agent) ? { stopped: true } : {}),
      })),
    ),
    handoffs: sorted(doc.handoffs).flatMap(([agent, verdicts]) =>
      sorted(verdicts).flatMap(([verdict, targets]) =>
        sorted(targets).map(([to, { cooldown }]) => ({ agent, verdict, to, cooldown })),
      ),
    ),
  }
}

/** A copy of a project's wiring of which many rows are changed in place. */
export interface OpenWiring extends Required<Pick<ProjectDoc, 'wakes' | 'handoffs'>> {
  /** What wakes each agent, as it was. */
  wakersOf: ReadonlyMap<string, readonly { trigger: string; agent: string }[]>
}

/** @returns a copy whose rows are free to be changed: of the triggers all, of the agents that hand over each whole */
export function openWiring(doc: ProjectDoc): OpenWiring {
  const { wakes = {}, handoffs = {} } = doc
  return {
    wakes: Object.fromEntries(Object.entries(wakes).map(([trigger, agents]) => [trigger, { ...agents }])),
    handoffs: { ...handoffs },
    wakersOf: grouped(wiringOf(doc).wakes, ({ agent }) => agent),
  }
}

const isNoted = (doc: Pick<ProjectDoc, 'stopped'>, trigger: string, agent: string): boolean =>
  doc.stopped?.wakes?.[trigger]?.[agent] === true

/** A project with this wiring instead of its own; a wake said to be stopped is on, unless the pause that stopped it lasts. */
export function withWiring(doc: ProjectDoc, { wakes, handoffs }: Wiring): ProjectDoc {
  let next: ProjectDoc = { ...doc, wakes: {}, handoffs: {} }
  for (const { trigger, agent, enabled, stopped } of wakes)
    next = withWake(
      next,
      trigger,
      agent,
      enabled === true || (stopped === true && !isNoted(doc, trigger, agent)),
    )
  for (const { agent, verdict, to, cooldown } of handoffs)
    next = withHandoff(next, agent, verdict.toLowerCase(), to, cooldown ?? HANDOFF_COOLDOWN)
  return next
}

/** Whether a wake is said to be off for good, and not only by the pause of its project. */
export const isSaidOff = ({ enabled, stopped }: Pick<Wake, 'enabled' | 'stopped'>): boolean =>
  enabled === false && stopped !== true

export function withWake(doc: ProjectDoc, trigger: string, agent: string, enabled: boolean): ProjectDoc {
  return { ...doc, wakes: { ...doc.wakes, [trigger]: { ...doc.wakes?.[trigger], [agent]: { enabled } } } }
}

/** A project without one wake or handoff. */
export function withoutWire(
  doc: ProjectDoc,
  wire: { wake: string; agent: string } | { agent: string; verdict: string; to: string },
): ProjectDoc {
  if ('wake' in wire) {
    const { [wire.agent]: _gone, ...agents } = doc.wakes?.[wire.wake] ?? {}
    return { ...doc, wakes: { ...doc.wakes, [wire.wake]: agents } }
  }
  const verdict = wire.verdict.toLowerCase()
  const verdicts = doc.handoffs?.[wire.agent]
  const { [wire.to]: _gone, ...targets } = verdicts?.[verdict] ?? {}
  return {
    ...doc,
    handoffs: { ...doc.handoffs, [wire.agent]: { ...verdicts, [verdict]: targets } },
  }
}

/**
 * A project that gives parts to another, and that other with what goes along: the wakes between parts of it, and the
 * handoffs of the agents it was given. A wire from or to a part that stays is kept, and shares its other end, so that
 * nothing stops working.
 * @param to the project they belong to now
 * @param taken what is given, as kind:name
 */
function partWays(
  doc: ProjectDoc,
  to: ProjectDoc,
  taken: ReadonlySet<string>,
): { left: ProjectDoc; joined: ProjectDoc } {
  const { wakes, handoffs } = wiringOf(doc)
  const isIts = (kind: PartKind, name: string) => to.uses[kind]?.[name]?.owned === true
  const isMoved = ({ trigger, agent }: Wake) =>
    (taken.has(`trigger:${trigger}`) || taken.has(`agent:${agent}`)) &&
    isIts('trigger', trigger) &&
    isIts('agent', agent)
  const shared = new Set(
    wakes
      .filter((wake) => !isMoved(wake))
      .flatMap(({ trigger, agent }) => [`trigger:${trigger}`, `agent:${agent}`]),
  )
  // An agent that was given before, and was shared because of these, goes now, too.
  const goes = (kind: PartKind, name: string) =>
    (taken.has(`${kind}:${name}`) || (kind === 'agent' && isIts(kind, name))) &&
    !shared.has(`${kind}:${name}`)
  // Whom an agent that stays hands over to stays, too, and so do those that this one hands over to.
  for (let known = -1; known < shared.size; ) {
    known = shared.size
    for (const { agent, to: next } of handoffs) if (!goes('agent', agent)) shared.add(`agent:${next}`)
  }
  let left = withoutParts(doc, goes)
  let joined = to
  for (const { trigger, agent, enabled, stopped } of wakes.filter(isMoved)) {
    left = withoutWire(left, { wake: trigger, agent })
    // What a pause of the project it leaves stopped is not off for good.
    if (!joined.wakes?.[trigger]?.[agent])
      joined = withWake(joined, trigger, agent, enabled === true || stopped === true)
  }
  for (const { agent, verdict, to: next, cooldown } of handoffs)
    if (taken.has(`agent:${agent}`) && !joined.handoffs?.[agent]?.[verdict]?.[next])
      joined = withHandoff(joined, agent, verdict, next, cooldown ?? HANDOFF_COOLDOWN)
  return { left, joined }
}

/** Adopted objects, as kind:name, leave the Default project, which held them for want of another. */
export function takeFromDefault(edit: Edit, id: string, taken: ReadonlySet<string>): void {
  if (taken.size === 0) return
  for (const [other, doc] of projectsOf(edit)) {
    if (other === id || doc.template !== DEFAULT_TEMPLATE) continue
    const { left, joined } = partWays(doc, projectOf(edit, id), taken)
    putProject(edit, other, left)
    putProject(edit, id, joined)
  }
}

/** Which project each trigger and agent belongs to, by kind:name; none that is nobody's or the Default project's. */
export function ownersOf(edit: Edit): Map<string, string> {
  const owners = new Map<string, string>()
  for (const [id, { uses, template }] of projectsOf(edit))
    for (const kind of template === DEFAULT_TEMPLATE ? [] : (['trigger', 'agent'] as const))
      for (const [name, use] of Object.entries(uses[kind] ?? {}))
        if (use.owned) owners.set(`${kind}:${name}`, id)
  return owners
}

/**
 * What is wired in the Default project of triggers and agents that belonged to nobody goes along with them.
 * @param endsWith whether a wake of such an agent ends there: what its own entry says is of where it belongs, and an agent
 *   that is woken in both would run twice
 */
export function takeWires(
  edit: Edit,
  before: ReadonlyMap<string, string>,
  endsWith: (project: string, wake: Pick<Wake, 'trigger' | 'agent'>) => boolean,
): void {
  const taken = new Map<string, Set<string>>()
  for (const [part, id] of ownersOf(edit))
    if (!before.has(part)) taken.set(id, (taken.get(id) ?? new Set()).add(part))
  const agents = [...taken.values()].flatMap((parts) =>
    [...parts].filter((part) => part.startsWith('agent:')),
  )
  for (const [id, doc] of agents.length > 0 ? projectsOf(edit) : []) {
    if (doc.template !== DEFAULT_TEMPLATE) continue
    const { wakes, wakersOf } = openWiring(doc)
    const ends = agents.flatMap((part) => {
      const agent = part.slice('agent:'.length)
      return (wakersOf.get(agent) ?? []).filter(({ trigger }) => endsWith(doc.name, { trigger, agent }))
    })
    for (const { trigger, agent } of ends) delete wakes[trigger]![agent]
    if (ends.length > 0) putProject(edit, id, { ...doc, wakes })
  }
  for (const [id, parts] of taken) takeFromDefault(edit, id, parts)
}

/** What wakes an agent in a project: exactly these triggers, each as it was or off. */
export function withWakesOf(doc: ProjectDoc, agent: string, triggers: readonly string[]): ProjectDoc {
  const wakes = Object.fromEntries(
    Object.entries(doc.wakes ?? {}).map(([trigger, agents]) => [
      trigger,
      Object.fromEntries(
        Object.entries(agents).filter(([name]) => name !== agent || triggers.includes(trigger)),
      ),
    ]),
  )
  let next: ProjectDoc = { ...doc, wakes }
  for (const trigger of triggers)
    if (!next.wakes?.[trigger]?.[agent]) next = withWake(next, trigger, agent, false)
  return next
}

export function withHandoff(
  doc: ProjectDoc,
  agent: string,
  verdict: string,
  to: string,
  cooldown: string,
): ProjectDoc {
  const ofAgent = doc.handoffs?.[agent]
  return {
    ...doc,
    handoffs: {
      ...doc.handoffs,
      [agent]: { ...ofAgent, [verdict]: { ...ofAgent?.[verdict], [to]: { cooldown } } },
    },
  }
}

/** Who takes over from an agent in a project: exactly these. */
export function withHandoffsOf(
  doc: ProjectDoc,
  agent: string,
  handoffs: readonly AgentHandoff[],
): ProjectDoc {
  let next: ProjectDoc = { ...doc, handoffs: { ...doc.handoffs, [agent]: {} } }
  for (const { verdict, agent: to, cooldown } of handoffs)
    next = withHandoff(next, agent, verdict, to, cooldown ?? HANDOFF_COOLDOWN)
  return next
}

export function handoffsOf(doc: ProjectDoc, agent: string): AgentHandoff[] {
  return wiringOf(doc)
    .handoffs.filter((row) => row.agent === agent)
    .map(({ verdict, to, cooldown }) => ({ verdict, agent: to, ...(cooldown ? { cooldown } : {}) }))
}

function sorted<T>(all: Record<string, T> | undefined): [string, T][] {
  return Object.entries(all ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
}
