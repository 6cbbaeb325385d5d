/**
 * The declared side of an instance put together: how each kind is stored, change-sets over them, and
 * what the writes of parts and projects share: where a part joins, whether its name is free, what is answered.
 */

import { articleOf, kindWord } from '../../schemas/kinds.ts'
import { didYouMean } from '../../schemas/near-names.ts'
import type { AgentSpec, GraphPosition, PartDeleted, PartMoved, PartWritten } from '../../schemas/types.ts'
import { forgetAgentTests, renameAgentTests } from '../agents/agent-tests.ts'
import { forgetTools, renameTools } from '../agents/mcp-pins.ts'
import { renameInRuns } from '../agents/runs/queries.ts'
import type { Clock } from '../clock.ts'
import { AGENT_SECRETS } from '../documents/agent.ts'
import { type Authoring, ChangeSets, type Committed } from '../documents/change-sets.ts'
import { EntityKind } from '../documents/entity.ts'
import { MCP_SERVER_SECRETS, programWarnings, refuseProgram } from '../documents/mcp-server.ts'
import { GuardedKind, type PartTable, refuseInherited, SpecPartKind } from '../documents/part-kind.ts'
import { checkSkillName, SkillKind } from '../documents/skill.ts'
import { scheduleWarnings } from '../documents/trigger.ts'
import { completeEdit, isNeeded } from '../documents/wiring.ts'
import { fail } from '../errors.ts'
import { renameInIncidents } from '../incidents/steps.ts'
import { acceptedIn, refuseEvent } from '../log/lifecycle.ts'
import { openSettings, type Settings } from '../log/settings.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import { WHERE } from '../model/credentials.ts'
import {
  type ChangeKind,
  type DeclaredKind,
  type Doc,
  type DocumentOf,
  type Edit,
  isPart,
  type Kinds,
  type NamedKind,
  type PartKind,
  type Rename,
  type Staged,
} from '../model/documents.ts'
import { positionsKey } from '../model/graph.ts'
import { remadeWarnings } from '../model/plan.ts'
import {
  DEFAULT_TEMPLATE,
  defaultProject,
  findProject,
  projectOf,
  projectsOf,
  putProject,
  usersOf,
  withUses,
} from '../model/project.ts'
import type { SecretNames } from '../net/address-secrets.ts'
import { addressFaults, isElsewhere, type Secrets, variableFault } from '../net/secrets.ts'
import { renameInOutbox, type SubscribedTo } from '../outbox/subscriptions.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import { SourceKind } from '../sources/source-kind.ts'
import { type Sources, warningsOf } from '../sources/sources.ts'
import { renameInFirings } from '../triggers/queries.ts'
import { type Keys, refuseKeysName } from './keys.ts'
import { followDrafts, followEdit } from './projects/follow.ts'
import { type ProjectQueries, projectQueries, type Templates } from './projects/present.ts'
import { ProjectKind } from './projects/project-spec.ts'

/** A write as a door hands it over: who and why, and the version its writer saw. */
export interface WriteBy extends Authoring {
  /** From If-Match; absent: the last write wins. */
  base?: number | undefined
  /** The instance is secured: each new source that events are sent to gets an ingest key, told once. */
  mintKeys?: boolean | undefined
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

const articled = (kind: NamedKind): string => `${articleOf(kindWord(kind))} ${kindWord(kind)}`

/** One rule for the names of all parts but skills. @throws SvcError invalid */
export function checkName(kind: NamedKind, name: string): void {
  if (!NAME.test(name))
    fail(
      'invalid',
      `name of ${articled(kind)} must be 1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit`,
      { field: 'name' },
    )
  refuseInherited(name)
  if (kind === 'source' && name === 'discover')
    fail(
      'invalid',
      'name must not be discover: /api/sources/discover is a call, so the source could not be read',
      {
        field: 'name',
      },
    )
}

/** The project a body names, by id or name; none: Default. @throws SvcError invalid */
export function joiningProject(edit: Edit, word: string | undefined): string {
  if (!word) return defaultProject(edit)
  return (
    findProject(edit, word) ?? fail('invalid', `project: no project is named ${word}`, { field: 'project' })
  )
}

/** Stages a new part in a project, to which it belongs. @throws SvcError conflict when the name is taken */
export function stageNew(edit: Edit, kind: PartKind, name: string, doc: Doc, project: string): void {
  if (edit.has(kind, name)) fail('conflict', `${articled(kind)} named ${name} exists`, { field: 'name' })
  edit.put(kind, name, doc)
  joinProject(edit, kind, name, project, true)
}

/** A part joins a project; it belongs to it when it is new there. A draft takes none (completeEdit). */
export function joinProject(edit: Edit, kind: PartKind, name: string, project: string, owned: boolean): void {
  const doc = projectOf(edit, project)
  const belongs = owned && doc.template !== DEFAULT_TEMPLATE
  putProject(edit, project, withUses(doc, [{ kind, name, owned: belongs }]))
}

/**
 * Stages the edit of a part. `project`, when given and not its own, then uses it too.
 * @throws SvcError not_found; invalid when the name in the body is another
 */
export function stageEdit(
  edit: Edit,
  kind: PartKind,
  name: string,
  body: { name?: string | undefined; project?: string | undefined },
  doc: Doc,
  base: number | undefined,
): void {
  edit.require(kind, name)
  if (body.name !== undefined && body.name !== name)
    fail(
      'invalid',
      `name must equal the name in the path; to rename it, POST to that path followed by /rename, or svc ${kind.replace('_', '-')}s rename`,
      {
        field: 'name',
      },
    )
  edit.put(kind, name, doc, base)
  if (!body.project) return
  const project = joiningProject(edit, body.project)
  if (!usersOf(edit, kind, name).includes(project)) joinProject(edit, kind, name, project, false)
}

/** The answer of a create or update. */
export function written(
  declared: Declared,
  kind: PartKind,
  name: string,
  committed: Committed<unknown>,
): PartWritten {
  return {
    ok: true,
    name,
    project: makerOf(declared, kind, name),
    version: declared.kinds[kind].find(name)?.changeSet ?? 0,
    change_set: committed.changeSet,
    ...withWarnings(committed),
  }
}

/** What should be known of a write although it is allowed. */
export const withWarnings = ({ plan: { warnings } }: Committed<unknown>): { warnings?: string[] } =>
  warnings ? { warnings } : {}

/** The project a part belongs to, else the first that uses it. */
export function makerOf({ kinds, projects }: Declared, kind: PartKind, name: string): string | null {
  const users = projects.users(kind, name)
  const owner = users.find((id) => {
    const uses = kinds.project.find(id)?.doc.uses as
      | Record<string, Record<string, { owned?: true }>>
      | undefined
    return uses?.[kind]?.[name]?.owned
  })
  return owner ?? users[0] ?? null
}

/** Everything a committed edit deleted, as kind:name. */
export function deletedBy({ plan }: Committed<unknown>): string[] {
  return plan.changes
    .filter(({ action, kind }) => action === 'delete' && kind !== 'project')
    .map(({ kind, name }) => `${kind}:${name}`)
}

/** The answer of a delete. */
export function deleted(committed: Committed<unknown>, more: Partial<PartDeleted> = {}): PartDeleted {
  return { ok: true, deleted: deletedBy(committed), change_set: committed.changeSet ?? 0, ...more }
}

/** Pauses or resumes a part. @throws SvcError not_found; wrong_state */
export function movePart(
  declared: Declared,
  kind: 'source' | 'trigger',
  name: string,
  event: 'pause' | 'resume',
  by: WriteBy,
): PartMoved {
  declared.changes.commit(by, (edit) => stagePaused(edit, kind, name, event))
  const stored = declared.kinds[kind].find(name)!
  return { ok: true, state: stored.state, version: stored.changeSet }
}

/** Stages `paused` of a part. @throws SvcError not_found; wrong_state when it is so already, or its project is paused */
export function stagePaused(
  edit: Edit,
  kind: 'source' | 'trigger',
  name: string,
  event: 'pause' | 'resume',
): void {
  const { paused: was, ...doc } = edit.require(kind, name)
  const paused = event === 'pause'
  if (Boolean(was) === paused) refuseEvent(kind, name, paused ? 'paused' : 'active', event)
  if (kind === 'trigger' && !paused) refuseInPaused(edit, name)
  edit.put(kind, name, paused ? { ...doc, paused: true } : doc)
}

/** A trigger runs where one of its projects does. @throws SvcError wrong_state */
function refuseInPaused(edit: Edit, name: string): void {
  const [user] = usersOf(edit, 'trigger', name)
  if (user === undefined || isNeeded(edit, 'trigger', name)) return
  fail(
    'wrong_state',
    `project ${projectOf(edit, user).name} is paused; resume it to resume trigger ${name}`,
    {
      state: 'paused',
      accepts: acceptedIn('project', 'paused'),
    },
  )
}

/* Another name for a part: what is kept of it, and all that refers to it, goes along. */

/** @throws SvcError not_found; invalid; conflict when the name is taken, or a template gave it its name */
export function renamePart(
  declared: Declared,
  kind: PartKind,
  from: string,
  to: string,
  by: WriteBy,
): PartWritten {
  const committed = declared.changes.commit(by, (edit) => stageRename(edit, kind, from, to))
  return written(declared, kind, to, committed)
}

/** Stages another name. @throws as renamePart */
export function stageRename(edit: Edit, kind: NamedKind, from: string, to: string): void {
  if (kind === 'skill') checkSkillName(to)
  else checkName(kind, to)
  const { connector } = edit.require(kind, from) as { connector?: string }
  if (kind === 'source' && connectorOf(String(connector)).internal === true)
    fail('conflict', `source ${from} is made by the service itself and keeps its name`)
  // One that is missing of a project may have the name of another that is made elsewhere.
  const maker = [...projectsOf(edit).values()].find(
    ({ plan, uses }) =>
      isPart(kind) &&
      uses[kind]?.[from] !== undefined &&
      Object.values(plan?.[kind] ?? {}).some(({ name }) => name === from),
  )
  if (maker)
    fail(
      'conflict',
      `${kindWord(kind)} ${from} has its name from the template of the project ${maker.name}, which would make it again`,
    )
  edit.rename(kind, from, to)
}

/* What a person or an agent writes names credentials that are there; a catalog may come before them. */

/**
 * @param before what was named until now: one that has gone since is not what this write is about.
 * @throws SvcError not_found
 */
export function requireCredential(declared: Declared, name: string | null, before: string | null): void {
  const { credentials } = declared.sources.store
  if (name === null || name === before || credentials.has(name)) return
  const near = didYouMean(name, credentials.names())
  fail('not_found', `credential: no credential is named ${name}${near}; add it under ${WHERE} first`, {
    field: 'credential',
  })
}

/** Parameters of a template that name credentials name some that are there. @throws SvcError not_found */
export function requireParamCredentials(
  declared: Declared,
  template: string | undefined,
  params: Readonly<Record<string, unknown>> = {},
): void {
  const file = template === undefined ? undefined : declared.templates.get(template)
  for (const [name, rules] of Object.entries(file?.params.properties ?? {})) {
    const given = params[name]
    if (rules['x-widget'] === 'credential' && typeof given === 'string' && given)
      requireCredential(declared, given, null)
  }
}

export interface DeclaredParts {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
  keys: Keys
  sources: Sources
  templates: Templates
  /** What `${NAME}` and x-env refer to. */
  env: Readonly<Record<string, string | undefined>>
  /** What is wrong with the models and tools that an agent names: a fallback that would answer nothing, more tools than are taken. */
  modelFaults(agent: Partial<AgentSpec>): string[]
  /** Marks a source's events for removal. @returns how many there are. */
  purge(sourceId: number): number
  /** A trigger or a project is gone: what was subscribed to it goes too, in the same transaction. */
  gone(of: SubscribedTo, at: number): void
  /** Its delete is undone: what went with it comes back, in the same transaction; of a source what is not removed yet. */
  back(of: SubscribedTo | { source: number }): void
  /** After the commit: what is held in memory of these kinds is read again. */
  changed(kinds: ReadonlySet<ChangeKind>): void
}

export interface Declared extends DeclaredParts {
  kinds: Kinds
  changes: ChangeSets
  projects: ProjectQueries
}

/** What is stored of a kind is a document of it: it was checked when it was written, whichever class keeps it. */
const typed = <K extends ChangeKind>(kind: DeclaredKind) => kind as DeclaredKind<DocumentOf<K>>

const guarded = <K extends Exclude<ChangeKind, 'project'>>(db: StoreHandle['db'], kind: DeclaredKind) =>
  new GuardedKind(db, typed<K>(kind))

export function openDeclared(parts: DeclaredParts): Declared {
  const { store, clock, secrets, keys, sources, templates } = parts
  const { db } = store
  const skill = new SkillKind({ db, secrets })
  const part = (
    kind: 'trigger' | 'agent' | 'mcp_server',
    table: PartTable,
    secretNames: SecretNames,
    sentTo?: Readonly<Record<string, string | null>>,
  ) => new SpecPartKind({ db, secrets, kind, table, secretNames, sentTo, pausable: kind === 'trigger' })
  const kinds: Kinds = {
    source: guarded<'source'>(db, new SourceKind(sources.store)),
    trigger: guarded<'trigger'>(db, part('trigger', 'triggers', { secrets: [], addresses: [] })),
    agent: guarded<'agent'>(
      db,
      part('agent', 'agents', AGENT_SECRETS, { webhook_token: 'webhook_url', slack_webhook: null }),
    ),
    mcp_server: guarded<'mcp_server'>(
      db,
      part('mcp_server', 'mcp_servers', MCP_SERVER_SECRETS, { auth_value: 'url' }),
    ),
    skill: guarded<'skill'>(db, skill),
    entity: guarded<'entity'>(db, new EntityKind(db)),
    project: typed<'project'>(
      new ProjectKind({ db, secrets, secretParams: (template) => templates.secretParams(template) }),
    ),
  }
  const projects = projectQueries(db)
  const settings = openSettings(store, clock)
  const follow = {
    db,
    queries: projects,
    mask: (kind: ChangeKind, doc: Doc) => kinds[kind].mask(doc),
    maskFields: (kind: ChangeKind, doc: Doc) => kinds[kind].maskFields?.(doc) ?? kinds[kind].mask(doc),
    fingerprint: (text: string) => secrets.fingerprint(text),
    moveSkill: skill.moveUsers.bind(skill),
    revokeKeys: (project: string, { by }: { by: Parameters<Keys['revokeOfProject']>[1] }) =>
      keys.revokeOfProject(project, by),
  }
  const changes = new ChangeSets({
    store,
    clock,
    kinds,
    complete: (edit) => {
      completeEdit(edit)
      refuseKeysName(edit.touched(), keys)
      for (const staged of edit.touched()) {
        refuseVariables(staged, kinds, parts.env)
        refuseProgram(staged, parts.env)
      }
    },
    projectsOf: (kind, key) => projects.users(kind, key),
    warn: (edit, touched) => [
      ...remadeWarnings(touched),
      ...programWarnings(touched, parts.env),
      ...warningsOf(sources, edit, touched),
      ...scheduleWarnings(touched),
      ...modelWarnings(edit, touched, parts),
    ],
    follow: (_edit, staged, stroke) => {
      for (const { kind, key, stored, doc } of staged)
        if (doc && stored?.was !== undefined && kind !== 'project') {
          moveParts(db, { kind, from: stored.was, to: key })
          renameInPositions(settings, { kind, from: stored.was, to: key })
        }
      followEdit(follow, staged, stroke)
      followDrafts(db, staged, stroke)
      for (const { kind, key, stored, doc, revive } of staged) {
        const of = subscribedTo(kind, key, revive ?? stored?.sealed)
        if (of && revive !== null) parts.back(of)
        if (kind === 'source' && revive !== null) parts.back({ source: rowOf(revive) })
        if (doc) continue
        if (of) parts.gone(of, stroke.at)
        if (kind === 'mcp_server') forgetTools(db, key)
        if (kind === 'agent') forgetAgentTests(db, key)
      }
    },
    committed: (touched) => {
      if (touched.has('source')) sources.reload()
      parts.changed(touched)
    },
  })
  return { ...parts, kinds, changes, projects }
}

/** What an agent asks of models that it would not be given. Which providers there are is the instance's to say. */
function modelWarnings(
  edit: Edit,
  touched: readonly Staged[],
  { env, modelFaults }: Pick<DeclaredParts, 'env' | 'modelFaults'>,
): string[] {
  if (isElsewhere(env)) return []
  return touched.flatMap(({ kind, key }) => {
    const agent = kind === 'agent' ? edit.get('agent', key) : undefined
    return agent ? modelFaults(agent).map((fault) => `agent ${key}: ${fault}`) : []
  })
}

/** What may have subscriptions. @param sealed as the record of changes has it, with the number of its row */
function subscribedTo(kind: ChangeKind, key: string, sealed: string | undefined): SubscribedTo | null {
  if (kind === 'project') return { project: key }
  if (kind !== 'trigger' || sealed === undefined) return null
  return { trigger: key, row: rowOf(sealed) }
}

const rowOf = (sealed: string): number => (JSON.parse(sealed) as { '@id': number })['@id']

/** What is kept of a part by its name, in its rooms, goes along when it gets another; in the transaction that gives it. */
function moveParts(db: StoreHandle['db'], { kind, from, to }: Rename): void {
  if (kind === 'trigger') {
    renameInFirings(db, to)
    renameInIncidents(db, to)
  }
  if (kind === 'trigger' || kind === 'agent' || kind === 'skill') renameInRuns(db, { kind, from, to })
  if (kind === 'trigger' || kind === 'agent') renameInOutbox(db, { kind, from, to })
  if (kind === 'agent') renameAgentTests(db, from, to)
  if (kind === 'mcp_server') renameTools(db, from, to)
}

/** Where people put a part, and the destinations that go by an agent, in the drawings of projects. */
function renameInPositions(settings: Settings, { kind, from, to }: Rename): void {
  const kinds = kind === 'agent' ? [kind, 'destination:write_back', 'destination:github'] : [kind]
  const names = new Map(kinds.map((one) => [`${one}:${from}`, `${one}:${to}`]))
  const given = new Set(names.values())
  for (const [key, put] of settings.under<GraphPosition[]>(positionsKey(''))) {
    if (!put.some(({ node }) => names.has(node))) continue
    // A part that had the name before, and is gone, leaves it its place.
    const kept = put.filter(({ node }) => !given.has(node))
    settings.put(
      key,
      kept.map((one) => ({ ...one, node: names.get(one.node) ?? one.node })),
    )
  }
}

/* Variables of the environment in documents that are written: only those that may be opened, and none in an address. */

/**
 * A reference that stays as it is, to the same host, passes: it is refused where it is used, and an edit of
 * another field must not wait for it. So does what is brought back as it was.
 * @throws SvcError invalid, naming the field, the variable and the rule
 */
export function refuseVariables(...of: Parameters<typeof variableFaults>): void {
  const [first] = variableFaults(...of)
  if (first) fail('invalid', first.message, { field: first.field })
}

/** The same as every field with a fault. */
export function variableFaults(
  { kind, stored, doc, revive }: Pick<Staged, 'kind' | 'stored' | 'doc' | 'revive'>,
  kinds: Kinds,
  env: Readonly<Record<string, string | undefined>>,
): { field: string; message: string }[] {
  const of = kinds[kind]
  if (!doc || revive !== null) return []
  const stays = stored ? of.addresses?.(stored.doc) : undefined
  const found = addressFaults(of.addresses?.(doc) ?? {}).filter(
    ({ field }) => stays?.[field] !== of.addresses?.(doc)[field],
  )
  const before = (stored && of.variables?.(stored.doc)) || []
  for (const { field, variable, host } of of.variables?.(doc) ?? []) {
    const isAsBefore = before.some(
      (use) => use.field === field && use.variable === variable && use.host === host,
    )
    const fault = isAsBefore ? null : variableFault(variable, env)
    if (fault !== null) found.push({ field, fault })
  }
  return found.map(({ field, fault }) => ({ field, message: `${field}: ${fault}` }))
}
