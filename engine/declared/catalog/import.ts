/**
 * A catalog file staged as one edit (SPEC.md, Catalog YAML): every entry is checked and every
 * problem told with its place before anything is written; parts are upserted by name; nothing is
 * deleted unless pruning is asked for.
 */

import { kindWord, SECTION_OF } from '../../../schemas/kinds.ts'
import type {
  Catalog,
  CatalogAgent,
  CatalogProblem,
  CatalogProject,
  CatalogSkill,
  CatalogSource,
  CatalogTrigger,
} from '../../../schemas/types.ts'
import { normaliseHandoffs } from '../../documents/agent.ts'
import { guardSentence } from '../../documents/part-kind.ts'
import { completeEdit } from '../../documents/wiring.ts'
import { fail } from '../../errors.ts'
import { type Move, movesOf } from '../../gitops/moved.ts'
import {
  type Doc,
  type Edit,
  type NamedKind,
  namedKinds,
  type PartKind,
  partKinds,
  type Stored,
} from '../../model/documents.ts'
import {
  CUSTOM_TEMPLATE,
  DEFAULT_TEMPLATE,
  defaultProject,
  HANDOFF_COOLDOWN,
  handoffsOf,
  newProjectId,
  type OpenWiring,
  openWiring,
  ownerOf,
  ownersOf,
  projectOf,
  projectsOf,
  putProject,
  takeWires,
  usersOf,
  withHandoff,
  withHandoffsOf,
  withoutParts,
  withoutWire,
  withUses,
  withWake,
} from '../../model/project.ts'
import { parseDuration } from '../../model/units.ts'
import { isElsewhere } from '../../net/secrets.ts'
import {
  secretsAssumed,
  secretsKept,
  withoutAssumed,
  withoutBlankSecrets,
} from '../../sources/config-secrets.ts'
import { connectorOf } from '../../sources/connectors/index.ts'
import { type Declared, joinProject, refuseVariables, stageRename, variableFaults } from '../declared.ts'
import { normaliseSpec } from '../operations.ts'
import { checkDescription, checkGoal, checkProjectName, nameFault, saidOf } from '../projects/project-spec.ts'
import { stageProject, stageProjectUpdate } from '../projects/project-writes.ts'
import { withSecretsAssumed } from '../projects/template-check.ts'
import {
  collecting,
  type Entry,
  type ImportRun,
  isPartThere,
  isTemplate,
  leaveDefault,
  type Paused,
  pauseAgain,
  pausedIn,
  plannedBy,
  projectNamed,
  refuse,
  resumePaused,
  stageOrTell,
  tellConfigFaults,
  tellEntityConflicts,
  tellPruned,
} from './import-run.ts'
import { doomedBy, type Locate, useOf, wireOf, wokenByEntry } from './texts.ts'

const NONE: ReadonlySet<string> = new Set()

/** What of a file is staged, and how. */
export interface StageOf {
  prune: boolean
  locate: Locate
  /** What pruning leaves, as of ImportRun. */
  spared?: ReadonlySet<string>
  /** As of ImportRun. */
  faulty?: ReadonlySet<string>
}

/** Stages a whole file. @throws SvcError invalid with every problem, when there is one. */
export function stageCatalog(declared: Declared, edit: Edit, catalog: Catalog, of: StageOf): void {
  const { paused, problems } = stageRunning(declared, edit, catalog, of)
  refuse(problems)
  const said = pausedIn(catalog)
  const isAnyPaused = paused.size > 0 || [...said.values()].includes(true)
  // What a project wires comes along first: a pause stops that, too.
  if (isAnyPaused) completeEdit(edit)
  pauseAgain(edit, paused, (id, doc) => said.get(doc.name) ?? paused.has(id), catalog, of.locate)
}

/**
 * Stages a file as it is when every project runs, also entries beside those with problems.
 * @returns the projects that were paused, and every problem with its place
 */
export function stageRunning(
  declared: Declared,
  edit: Edit,
  catalog: Catalog,
  { prune, locate, spared = NONE, faulty = NONE }: StageOf,
): { paused: Map<string, Paused>; problems: CatalogProblem[] } {
  const problems: CatalogProblem[] = []
  const at = collecting(problems, locate)
  stageMoves(edit, catalog, spared, at)
  const owners = ownersOf(edit)
  const doomed = prune ? doomedBy(edit, catalog, spared) : NONE
  const run: ImportRun = { declared, edit, catalog, prune, spared, faulty, doomed, at }
  const paused = resumePaused(edit)
  stageParts(run, (entry) => !ofTemplate(run, entry))
  stageProjects(run, (entry) => isTemplate(entry.template))
  stageParts(run, (entry) => ofTemplate(run, entry))
  emptyCustom(run)
  stageProjects(run, (entry) => !isTemplate(entry.template))
  placeParts(run)
  takeWires(edit, owners, wokenByEntry(catalog, spared))
  stageAgentWiring(run)
  stageWiringRows(run)
  if (prune) stagePrune(run)
  tellEntityConflicts(run)
  return { paused, problems }
}

/**
 * Gives what moved its new name, before anything else is staged. Where the old name is gone it was given before.
 * @returns what is given a name now
 */
export function stageMoves(
  edit: Edit,
  catalog: Catalog,
  spared: ReadonlySet<string>,
  at: ImportRun['at'],
): Move[] {
  const projectIds = (name: string) =>
    [...projectsOf(edit)].filter(([, doc]) => doc.name === name).map(([id]) => id)
  return movesOf(catalog.moved ?? []).moves.filter((move) => {
    const { kind, from, to, index } = move
    const isThere = (name: string) =>
      kind === 'project' ? projectIds(name).length > 0 : edit.has(kind, name)
    if (!isThere(from)) return false
    return at(['moved', index], () => {
      const label = `${kindWord(kind)} ${from}`
      if (isThere(to))
        fail(
          'conflict',
          `${label} cannot become ${to}: both are there. Delete one of them first, or take this line out`,
        )
      if (spared.has(`${SECTION_OF[kind]}:${from}`))
        fail('conflict', `${label} belongs to another catalog, which gives it its name`)
      if (kind !== 'project') stageRename(edit, kind, from, to)
      else {
        const [id] = projectIds(from)
        putProject(edit, id!, { ...projectOf(edit, id!), name: checkProjectName(to) })
      }
      return true
    })
  })
}

/** A part of a template's project is edited after the project is planned, not adopted by it. */
function ofTemplate(
  { catalog, edit }: ImportRun,
  { project, projects }: { project?: string; projects?: string[] },
): boolean {
  const words = project === undefined ? (projects ?? []) : [project]
  const entries = catalog.projects ?? []
  return words.some(
    (word) =>
      entries.some((entry) => entry.name === word && isTemplate(entry.template)) ||
      [...projectsOf(edit).values()].some((doc) => doc.name === word && isTemplate(doc.template)),
  )
}

/* The entries of parts in a catalog file: each upserted by name. */

/** Stages the entries that `isDue`. */
function stageParts(run: ImportRun, isDue: (entry: Entry) => boolean): void {
  const { catalog } = run
  const each = <T extends Entry>(kind: NamedKind, stage: (entry: T, i: number) => void) =>
    (catalog[SECTION_OF[kind]] as T[] | undefined)?.forEach((entry, i) => {
      if (isDue(entry)) stageOrTell(run, kind, i, entry, (given) => stage(given, i))
    })
  each<CatalogSource & Entry>('source', (entry, i) => stageSource(run, entry, i))
  each('mcp_server', ({ project: _p, name, ...spec }) => stagePart(run, 'mcp_server', name, spec))
  each<CatalogSkill & Entry>('skill', ({ name, description, body, prevent_destroy, sync }) =>
    stagePart(run, 'skill', name, { description, body, prevent_destroy, sync }),
  )
  each('entity', ({ name, ...spec }) => stagePart(run, 'entity', name, spec))
  each<CatalogTrigger & Entry>('trigger', (entry, i) => stageTrigger(run, entry, i))
  each<CatalogAgent & Entry>('agent', (entry, i) => stageAgent(run, entry, i))
}

/** A file that is the source of truth says of each part whether it is guarded, and how it is kept in step. */
function stagePart(
  { edit, declared }: Pick<ImportRun, 'edit' | 'declared'>,
  kind: NamedKind,
  name: string,
  spec: Doc,
): void {
  const guarded = { ...spec, prevent_destroy: spec.prevent_destroy ?? false, sync: spec.sync ?? null }
  const doc = normaliseSpec(edit, kind, name, guarded)
  // Here too, not when the edit is completed alone: the problem is told with its place in the file.
  const stored = edit.stored(kind, name)
  refuseVariables({ kind, stored, doc, revive: null }, declared.kinds, declared.env)
  edit.put(kind, name, doc)
}

/** A secret that is left out or blank stays as it is stored; where that is not known, it is assumed for the check alone. */
function stageSource(run: ImportRun, entry: CatalogSource, index: number): void {
  const { edit, declared } = run
  const { name, connector, poll, paused, prevent_destroy, sync } = entry
  const now = edit.get('source', name)
  const own = ['finding', 'catalog']
  if (own.includes(String(now?.connector)) || own.includes(connector))
    fail('invalid', `connector: ${connector} sources are made by the service itself`, { field: 'connector' })
  const config = withoutBlankSecrets(connector, entry.config ?? {})
  const unreadable = edit.stored('source', name)?.unreadable ?? []
  const stays = now?.connector === connector ? secretsKept(connector, config, now.config, unreadable) : {}
  const assumed = isElsewhere(declared.env) ? secretsAssumed(connector, { ...stays, ...config }) : {}
  const faulty = tellConfigFaults(run, index, connector, { ...stays, ...config, ...assumed })
  // All of a config is told at once: beside what is wrong in it the variables that the rest refers to.
  const sound = Object.fromEntries(Object.entries(config).filter(([field]) => !faulty.has(field)))
  const given = { kind: 'source' as const, stored: edit.stored('source', name), revive: null }
  const staged = { ...given, doc: { connector, config: sound } }
  for (const { field, message } of variableFaults(staged, declared.kinds, declared.env))
    run.at(['sources', index], () => fail('invalid', message, { field }))
  if (faulty.size > 0) return
  stagePart(run, 'source', name, {
    ...{ connector, config: { ...config, ...assumed }, prevent_destroy, sync },
    ...(poll ? { poll } : {}),
    ...(paused ? { paused } : {}),
  })
  if (Object.keys(assumed).length === 0) return
  edit.put('source', name, withoutAssumed(edit.require('source', name), assumed))
}

function stageTrigger(
  run: ImportRun,
  { name, project: _project, ...spec }: CatalogTrigger,
  index: number,
): void {
  for (const [n, source] of spec.sources.entries())
    run.at(['triggers', index], () => isPartThere(run, 'source', source, `sources[${n}]`))
  stagePart(run, 'trigger', name, { ...spec })
}

/** Absent keeps what is stored of these; present and empty clears it. */
const KEPT = ['concludes', 'verdicts', 'github'] as const

function stageAgent(run: ImportRun, entry: CatalogAgent, index: number): void {
  const { name, project: _p, trigger: _t, handoffs: _h, enabled: _e, ...spec } = entry
  for (const [n, server] of (spec.mcp_servers ?? []).entries())
    run.at(['agents', index], () => isPartThere(run, 'mcp_server', server, `mcp_servers[${n}]`))
  const now = run.edit.get('agent', name)
  const kept = Object.fromEntries(
    KEPT.filter((field) => spec[field] === undefined && now?.[field] !== undefined).map((field) => [
      field,
      now?.[field],
    ]),
  )
  stagePart(run, 'agent', name, { ...kept, ...spec })
}

/* Where the parts of a catalog file belong, and what its agents' own entries wire. */

/** Puts parts into the projects their entries name. */
function placeParts(run: ImportRun): void {
  const { catalog, edit, at } = run
  const place = (section: string, kind: PartKind, entries: Entry[] | undefined) =>
    entries?.forEach((entry, i) => {
      at([section, i, 'project'], () => {
        if (entry.project === undefined) return
        const id = projectNamed(run, entry.project)
        if (id === undefined || !edit.has(kind, entry.name)) return
        const owner = ownerIn(run, kind, entry.name)
        joinProject(edit, kind, entry.name, id, owner === null || owner === id)
        if (owner === null || owner === id) leaveDefault(edit, kind, entry.name, id)
      })
    })
  catalog.sources?.forEach((entry, i) => {
    entry.projects?.forEach((word, n) => {
      at(['sources', i, 'projects', n], () => {
        const id = projectNamed(run, word)
        if (id === undefined || !edit.has('source', entry.name)) return
        if (!usersOf(edit, 'source', entry.name).includes(id))
          joinProject(edit, 'source', entry.name, id, ownerIn(run, 'source', entry.name) === null)
        leaveDefault(edit, 'source', entry.name, id, entry.projects)
      })
    })
  })
  place('mcp_servers', 'mcp_server', catalog.mcp_servers as Entry[] | undefined)
  place('triggers', 'trigger', catalog.triggers as Entry[] | undefined)
  place('agents', 'agent', catalog.agents as Entry[] | undefined)
  place('skills', 'skill', catalog.skills as Entry[] | undefined)
  catalog.skills?.forEach(({ name, project, used_by: words = [] }, i) => {
    const users = edit.has('skill', name) && words.length ? usersOf(edit, 'skill', name) : null
    // One that no project made goes to Default, whoever else uses it (SPEC.md, Catalog YAML).
    if (users?.length === 0 && project === undefined)
      joinProject(edit, 'skill', name, defaultProject(edit), false)
    words.forEach((word, n) => {
      at(['skills', i, 'used_by', n], () => {
        const id = projectNamed(run, word)
        if (id && users && !users.includes(id)) joinProject(edit, 'skill', name, id, false)
      })
    })
  })
}

/** An agent's own entry wires it in its home: the project that made it, else Default; rows of another catalog stay. */
function stageAgentWiring(run: ImportRun): void {
  const { edit, catalog, at, spared } = run
  const isOfOther = (home: string, row: { wake: string } | { verdict: string; to: string }, agent: string) =>
    spared.size > 0 && spared.has(wireOf({ project: projectOf(edit, home).name, agent, ...row }))
  // Of thousands of agents in one project each would copy all of its wiring.
  const homes = new Map<string, OpenWiring>()
  const wiringIn = (home: string): OpenWiring => {
    const known = homes.get(home)
    if (known) return known
    const copy = openWiring(projectOf(edit, home))
    homes.set(home, copy)
    return copy
  }
  catalog.agents?.forEach((entry, i) => {
    const { name, trigger, enabled, handoffs } = entry
    const isThere = edit.has('agent', name)
    const home = isThere ? homeOf(run, entry) : ''
    if (trigger !== undefined) {
      at(['agents', i, 'trigger'], () => {
        if ((trigger && !isPartThere(run, 'trigger', trigger)) || !isThere) return
        const { wakes, wakersOf } = wiringIn(home)
        for (const { trigger: other } of wakersOf.get(name) ?? [])
          if (other !== trigger && !isOfOther(home, { wake: other }, name)) delete wakes[other]![name]
        if (trigger && !isOfOther(home, { wake: trigger }, name))
          wakes[trigger] = { ...wakes[trigger], [name]: { enabled: enabled ?? false } }
      })
    } else if (enabled !== undefined && isThere) {
      const { wakes, wakersOf } = wiringIn(home)
      for (const { trigger: wake } of wakersOf.get(name) ?? [])
        if (!isOfOther(home, { wake }, name)) wakes[wake]![name] = { enabled }
    }
    if (handoffs !== undefined)
      at(['agents', i, 'handoffs'], () => {
        const there = handoffs.map(({ agent }, n) =>
          at(['agents', i, 'handoffs'], () => isPartThere(run, 'agent', agent, `[${n}].agent`)),
        )
        const rows = normaliseHandoffs(name, handoffs)
        if (!isThere || !there.every(Boolean)) return
        const wiring = wiringIn(home)
        const others = handoffsOf({ ...projectOf(edit, home), ...wiring }, name).filter(
          ({ agent: to, verdict }) => isOfOther(home, { verdict, to }, name),
        )
        wiring.handoffs[name] = withHandoffsOf(projectOf(edit, home), name, [...rows, ...others]).handoffs![
          name
        ]!
      })
  })
  for (const [home, { wakes, handoffs }] of homes)
    putProject(edit, home, { ...projectOf(edit, home), wakes, handoffs })
}

function homeOf(run: ImportRun, { name, project }: CatalogAgent): string {
  const { edit } = run
  const named =
    project === undefined ? undefined : [...projectsOf(edit)].find(([, doc]) => doc.name === project)?.[0]
  return named ?? ownerIn(run, 'agent', name) ?? defaultProject(edit)
}

/* The projects of a catalog file: made by name, or brought in step. */

function stageProjects(run: ImportRun, isDue: (entry: CatalogProject) => boolean): void {
  run.catalog.projects?.forEach((entry, i) => {
    if (isDue(entry)) run.at(['projects', i], () => stageProjectEntry(run, entry, i))
  })
}

/**
 * What the custom projects of a pruning file list is all that they have, but for skills and what another catalog puts
 * there. They let go of it before the first of them takes what it lists: else a part would stay with the one that no
 * longer lists it.
 */
function emptyCustom({ edit, catalog, prune, spared }: ImportRun): void {
  if (!prune) return
  const listed = new Set(
    (catalog.projects ?? []).flatMap(({ name, template }) => (template === CUSTOM_TEMPLATE ? [name] : [])),
  )
  for (const [id, doc] of projectsOf(edit))
    if (doc.template === CUSTOM_TEMPLATE && listed.has(doc.name)) {
      const stays = (kind: PartKind, name: string) =>
        kind === 'skill' || spared.has(useOf(doc.name, kind, name))
      putProject(edit, id, { ...doc, uses: withoutParts(doc, (kind, name) => !stays(kind, name)).uses })
    }
}

function stageProjectEntry(run: ImportRun, entry: CatalogProject, index: number): void {
  const { declared, edit } = run
  const { template, name, goal, description = '' } = entry
  if (!template) fail('invalid', 'template is required', { field: 'template' })
  if (template === DEFAULT_TEMPLATE) {
    stageProjectUpdate(declared, edit, defaultProject(edit), { goal: goal ?? '', description })
    return
  }
  const id = [...projectsOf(edit)].find(([, doc]) => doc.name === name)?.[0]
  const file = isElsewhere(declared.env) ? declared.templates.get(template) : undefined
  const stored = id === undefined ? {} : projectOf(edit, id).params
  const params = file ? withSecretsAssumed(file, entry.params, stored) : entry.params
  if (id === undefined && template !== CUSTOM_TEMPLATE) {
    stageProject(declared, edit, {
      template,
      ...(name ? { name } : {}),
      ...(params ? { params } : {}),
      ...(goal ? { goal } : {}),
      description,
    })
    return
  }
  if (id !== undefined) {
    const doc = projectOf(edit, id)
    if (doc.template !== template)
      fail(
        'invalid',
        nameFault(String(name)) ??
          `template: project ${name} was made from ${doc.template}; delete it to make it from ${template}`,
        { field: 'template' },
      )
    // A file that is the source of truth says the goal, the description and the parameters whole.
    stageProjectUpdate(declared, edit, id, { goal: goal ?? '', description, ...(params ? { params } : {}) })
  }
  if (template === CUSTOM_TEMPLATE) stageCustom(run, id, entry, index)
}

function stageCustom(
  run: ImportRun,
  known: string | undefined,
  { name, goal, description, objects = [] }: CatalogProject,
  index: number,
): void {
  const { edit } = run
  const id = known ?? newProjectId(edit)
  if (known === undefined) {
    const said = {
      name: checkProjectName(name),
      goal: checkGoal(goal),
      description: checkDescription(description),
    }
    putProject(edit, id, { ...saidOf(said), template: CUSTOM_TEMPLATE, uses: {} })
  }
  const refs = objects.flatMap(({ kind: word, name: object, shared }, i) => {
    const kind = (word === 'mcp server' ? 'mcp_server' : word) as PartKind
    if (word === 'view')
      fail('invalid', 'views were removed in 1.38.0: a trigger reads sources itself, with filters', {
        field: `objects[${i}]`,
      })
    const found = run.at(['projects', index], () => isPartThere(run, kind, object, `objects[${i}].name`))
    if (!found) return []
    const owner = ownerIn(run, kind, object)
    return { kind, name: object, owned: shared !== true && (owner === null || owner === id) }
  })
  putProject(edit, id, withUses(projectOf(edit, id), refs))
  for (const ref of refs) if (ref.owned) leaveDefault(edit, ref.kind, ref.name, id)
}

/* The wiring section of a catalog file: it wins over what the agents' own entries say. */

function stageWiringRows(run: ImportRun): void {
  const { edit, catalog, at } = run
  catalog.wiring?.forEach((row, i) => {
    at(['wiring', i], () => {
      const id = at(['wiring', i], () => projectNamed(run, row.project))
      const known = (kind: 'agent' | 'trigger', name: string, field: string) =>
        at(['wiring', i], () => isPartThere(run, kind, name, field)) === true
      const isAgent = known('agent', row.agent, 'agent')
      const isOther = 'wake' in row ? known('trigger', row.wake, 'wake') : known('agent', row.to, 'to')
      if (id === undefined || !isAgent || !isOther) return
      const doc = projectOf(edit, id)
      if (row.wired === false) return putProject(edit, id, withoutWire(doc, row))
      if ('wake' in row) return putProject(edit, id, withWake(doc, row.wake, row.agent, row.enabled ?? true))
      if (row.agent === row.to) fail('invalid', `${row.agent} cannot hand over to itself`, { field: 'to' })
      const cooldown = row.cooldown ?? HANDOFF_COOLDOWN
      parseDuration(cooldown, 'cooldown')
      putProject(edit, id, withHandoff(doc, row.agent, row.verdict.toLowerCase(), row.to, cooldown))
    })
  })
}

/* What a pruning import deletes: parts and projects the file does not name, and wiring it lacks. */

/** What the file names stays, also where nobody else uses it than a project that goes. */
function keepNamed({ edit, catalog, doomed }: ImportRun): void {
  if (doomed.size === 0) return
  for (const kind of partKinds)
    for (const { name } of (catalog[SECTION_OF[kind]] ?? []) as { name: string }[]) {
      const users = edit.has(kind, name) ? usersOf(edit, kind, name) : []
      if (users.length && users.every((id) => doomed.has(id)))
        joinProject(edit, kind, name, defaultProject(edit), false)
    }
}

/** The project that a part belongs to and goes on belonging to. */
function ownerIn({ edit, doomed }: ImportRun, kind: PartKind, name: string): string | null {
  const owner = ownerOf(edit, kind, name)
  if (owner === null || !doomed.has(owner)) return owner
  // It has two while the file is staged: the one that goes, and whom the file gave it.
  const others = usersOf(edit, kind, name).filter((id) => !doomed.has(id))
  return others.find((id) => projectOf(edit, id).uses[kind]?.[name]?.owned) ?? null
}

function stagePrune(run: ImportRun): void {
  const { edit, catalog, declared, spared, doomed, at } = run
  keepNamed(run)
  const projects = [...doomed].map((id) => `project:${projectOf(edit, id).name}`)
  const parts: [NamedKind, string][] = []
  for (const id of doomed) edit.remove('project', id)
  const planned = plannedBy(run)
  for (const kind of namedKinds) {
    const section = SECTION_OF[kind]
    const kept = new Set((catalog[section] as { name: string }[] | undefined)?.map(({ name }) => name))
    for (const { name: was, doc } of declared.kinds[kind].list() as Stored[]) {
      const name = edit.nameOf(kind, was)
      const isInternal = kind === 'source' && connectorOf(String(doc.connector)).internal === true
      const stays = kept.has(name) || isInternal || spared.has(`${section}:${name}`)
      if (stays || planned.has(`${kind}:${name}`)) continue
      if (doc.prevent_destroy === true) at([], () => fail('invalid', guardSentence(kind, name)))
      else parts.push([kind, name])
    }
  }
  for (const [kind, name] of parts) edit.remove(kind, name)
  tellPruned(run, new Set([...projects, ...parts.map((part) => part.join(':'))]))
  pruneWiring(run)
}

/** Wakes and handoffs of hand-made projects that neither an agent's entry nor a row says. */
function pruneWiring(run: ImportRun): void {
  const { edit, catalog, spared } = run
  const said = new Set([...spared, ...(catalog.wiring ?? []).map((row) => wireOf(row))])
  const atHome = new Map(
    (catalog.agents ?? []).map((entry) => [`${homeOf(run, entry)}|${entry.name}`, entry]),
  )
  for (const [id, doc] of projectsOf(edit)) {
    if (doc.plan || spared.has(`projects:${doc.name}`)) continue
    const wakes = Object.fromEntries(
      Object.entries(doc.wakes ?? {}).map(([trigger, agents]) => [
        trigger,
        Object.fromEntries(
          Object.entries(agents).filter(
            ([agent]) =>
              said.has(wireOf({ project: doc.name, wake: trigger, agent })) ||
              spared.has(`agents:${agent}`) ||
              atHome.get(`${id}|${agent}`)?.trigger === trigger,
          ),
        ),
      ]),
    )
    const handoffs = Object.fromEntries(
      Object.entries(doc.handoffs ?? {}).map(([agent, verdicts]) => [
        agent,
        Object.fromEntries(
          Object.entries(verdicts).map(([verdict, targets]) => [
            verdict,
            Object.fromEntries(
              Object.entries(targets).filter(
                ([to]) =>
                  said.has(wireOf({ project: doc.name, agent, verdict, to })) ||
                  spared.has(`agents:${agent}`) ||
                  atHome
                    .get(`${id}|${agent}`)
                    ?.handoffs?.some((row) => row.agent === to && row.verdict.toLowerCase() === verdict),
              ),
            ),
          ]),
        ),
      ]),
    )
    putProject(edit, id, { ...doc, wakes, handoffs })
  }
}
