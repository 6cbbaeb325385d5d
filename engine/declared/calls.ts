/**
 * The declared side of the engine as its callers see it: parts, projects, skills, findings,
 * change-sets and the catalog. Every call may throw SvcError (see errors.ts); writes are change-sets,
 * and name who makes them and the version their writer saw.
 */
import type {
  AgentUpdate,
  AgentWrite,
  CatalogCheck,
  CatalogImport,
  CatalogPatch,
  ChangeApplied,
  ChangeSetCreate,
  CredentialServerWrite,
  EntityWrite,
  FindingCreate,
  KeyCreate,
  MarkWrite,
  McpServerWrite,
  ProjectCreate,
  ProjectUpdate,
  SkillUpdate,
  SkillWrite,
  SourceWrite,
  Wiring,
} from '../../schemas/types.ts'
import { markFinding, markWords } from '../agents/finding-queries.ts'
import {
  type AllFindingsAsked,
  type FindingsAsked,
  type FindingsParts,
  type FoundIn,
  findFinding,
  getResult,
  listAllFindings,
  listFindings,
  listResults,
  markHandled,
  type ResultsAsked,
  recordFinding,
  type ToldEvent,
  todayOf,
} from '../agents/findings.ts'
import type { AgentModels } from '../agents/models/calls.ts'
import type { Asked, Row } from '../calls.ts'
import { changeKindOf } from '../documents/change-sets.ts'
import { fail, SvcError } from '../errors.ts'
import { refuseEvent } from '../log/lifecycle.ts'
import type { Database } from '../log/store/handle.ts'
import { parseInstant } from '../log/timeline/plan.ts'
import { type ChangeKind, type Doc, documentOf, type Edit, type PartKind } from '../model/documents.ts'
import type { Egress } from '../net/fetch.ts'
import { redact } from '../net/redact.ts'
import type { Fetcher } from '../outbox/fetching.ts'
import { offeredConnectors } from '../sources/connectors/index.ts'
import type { CatalogRead } from './catalog/apply.ts'
import type { CatalogFiles } from './catalog/catalog.ts'
import { catalogListing, describeHandle } from './catalog/handles.ts'
import { type Declared, renamePart, type WriteBy } from './declared.ts'
import { projectHealth } from './health.ts'
import { refuseAgentsName } from './keys.ts'
import { applyOperations, belongings } from './operations.ts'
import {
  addCredentialServer,
  createAgent,
  createJoinedEntity,
  createMcpServer,
  deleteAgent,
  deleteJoinedEntity,
  deleteMcpServer,
  deleteTrigger,
  moveTrigger,
  renameJoinedEntity,
  switchAgent,
  updateAgent,
  updateJoinedEntity,
  updateMcpServer,
} from './part-writes.ts'
import {
  getAgent,
  getJoinedEntity,
  getMcpServer,
  getTrigger,
  listAgents,
  listJoinedEntities,
  listMcpServers,
  listPrograms,
  listTriggers,
} from './parts.ts'
import { listDependents, listResources, outlineOf, summaryOf } from './projects/outline.ts'
import { presentCard } from './projects/present.ts'
import {
  createProject,
  deleteProject,
  type Holding,
  heldProjects,
  holdProject,
  listProjects,
  moveProject,
  projectNamed,
  removalOf,
  repairProject,
  updateProject,
  wireProject,
} from './projects/project-writes.ts'
import { readPicked } from './projects/remove.ts'
import { describeTemplate, detectTemplate, renderAction } from './projects/templating.ts'
import {
  createSkill,
  getProjectSkill,
  listProjectSkills,
  listSkills,
  removeSkill,
  requireProject,
  shareSkill,
  skillFile,
  updateSkill,
  uploadSkill,
} from './skill-writes.ts'
import { createSource, deleteSource, moveSource, updateSource } from './source-writes.ts'

export interface CallsParts {
  declared: Declared
  findings: FindingsParts
  catalog: CatalogFiles
  /** The way out of template actions and detection. */
  egress: Pick<Egress, 'send'>
  startRun: ActionParts['startRun']
  /** What there is to run agents on. */
  agentModels(): AgentModels
  /** Newest events of a source, newest first. @throws SvcError not_found */
  newest(source: string, limit: number): Row[]
}

/** What is asked of one project, by id or name, or of all, since an instant as it is written. */
type OfProject<Asked> = Omit<Asked, 'since'> & { project?: string | undefined; since?: string | undefined }

/**
 * Projects by id, deleted ones with what was found in them too.
 * @param only id or name of one, the id of one that is deleted too; absent: all. @throws SvcError not_found
 */
function projectsById(declared: Declared, only: string | undefined): Map<string, FoundIn> {
  const gone = deletedWithRuns(declared.store.db)
  const past = gone.find(({ id }) => id === only)
  if (past) return new Map([[past.id, past]])
  const stored =
    only === undefined
      ? declared.kinds.project.list()
      : [declared.kinds.project.find(requireProject(declared, only))!]
  const there = stored.map(({ key: id, doc }): FoundIn => ({ id, name: String(doc.name) }))
  return new Map([...there, ...(only === undefined ? gone : [])].map((project) => [project.id, project]))
}

/** What agents found stays where their project was deleted without its records. */
function deletedWithRuns(db: Database): FoundIn[] {
  const rows = db
    .prepare<[], { id: string; name: string }>(
      `SELECT id, name FROM projects p WHERE state = 'deleted'
         AND EXISTS (SELECT 1 FROM run_projects WHERE project = p.id) ORDER BY id`,
    )
    .all()
  return rows.map((row) => ({ ...row, deleted: true }))
}

const clamp = (limit: number, max: number): number => Math.min(max, Math.max(1, Math.trunc(limit)))

/** Parts and resources. */
function partCalls({ declared, agentModels, newest }: CallsParts) {
  const belongs = () => {
    const of = belongings(declared)
    return (name: string) => of('source', name)
  }
  const { sources } = declared
  return {
    listSources: async () => sources.list(belongs()),
    getSource: async (name: string) => sources.get(name, belongs()),
    createSource: async (body: SourceWrite, by: WriteBy, mintKey: boolean) =>
      createSource(declared, body, by, mintKey),
    updateSource: async (name: string, body: SourceWrite, by: WriteBy) =>
      updateSource(declared, name, body, by),
    deleteSource: async (name: string, how: { cascade: boolean; purgeEvents: boolean }, by: WriteBy) =>
      deleteSource(declared, name, how, by),
    moveSource: async (name: string, event: 'pause' | 'resume', by: WriteBy) =>
      moveSource(declared, name, event, by),
    listTriggers: async () => listTriggers(declared),
    getTrigger: async (name: string) => getTrigger(declared, name),
    deleteTrigger: async (name: string, by: WriteBy) => deleteTrigger(declared, name, by),
    renamePart: async (kind: PartKind, from: string, to: string, by: WriteBy) =>
      renamePart(declared, kind, from, to, by),
    moveTrigger: async (name: string, event: 'pause' | 'resume', by: WriteBy) =>
      moveTrigger(declared, name, event, by),
    listAgents: async (project?: string) =>
      listAgents(declared, project ? requireProject(declared, project) : null, agentModels()),
    getAgent: async (name: string, project?: string) =>
      getAgent(declared, name, project ? requireProject(declared, project) : null),
    createAgent: async (body: AgentWrite, by: WriteBy) => createAgent(declared, body, by),
    updateAgent: async (name: string, body: AgentUpdate, by: WriteBy) =>
      updateAgent(declared, name, body, by),
    deleteAgent: async (name: string, by: WriteBy) => deleteAgent(declared, name, by),
    switchAgent: async (name: string, enabled: boolean, project: string | undefined, by: WriteBy) =>
      switchAgent(declared, name, enabled, project, by),
    listMcpServers: async () => ({ servers: listMcpServers(declared), programs: listPrograms(declared) }),
    getMcpServer: async (name: string) => getMcpServer(declared, name),
    createMcpServer: async (body: McpServerWrite, by: WriteBy) => createMcpServer(declared, body, by),
    addCredentialServer: async (name: string, body: CredentialServerWrite, by: WriteBy) =>
      addCredentialServer(declared, name, body, by),
    updateMcpServer: async (name: string, body: McpServerWrite, by: WriteBy) =>
      updateMcpServer(declared, name, body, by),
    deleteMcpServer: async (name: string, by: WriteBy) => deleteMcpServer(declared, name, by),
    listJoinedEntities: async () => ({ entities: listJoinedEntities(declared) }),
    getJoinedEntity: async (name: string) => getJoinedEntity(declared, name),
    createJoinedEntity: async (body: EntityWrite, by: WriteBy) => createJoinedEntity(declared, body, by),
    renameJoinedEntity: async (name: string, to: string, by: WriteBy) =>
      renameJoinedEntity(declared, name, to, by),
    updateJoinedEntity: async (name: string, body: EntityWrite, by: WriteBy) =>
      updateJoinedEntity(declared, name, body, by),
    deleteJoinedEntity: async (name: string, by: WriteBy) => deleteJoinedEntity(declared, name, by),
    resources: async () => listResources(declared),
    catalogListing: async (project: string | null) => catalogListing(declared, project),
    describeHandle: async (handle: string, project: string | null) =>
      describeHandle(declared, handle, project, newest),
    dependents: async (kind: string, name: string) => listDependents(declared, kind, name),
  }
}

/** Skills of projects. */
function skillCalls({ declared }: CallsParts) {
  return {
    listSkills: async () => listSkills(declared),
    listProjectSkills: async (project: string) => listProjectSkills(declared, project),
    getProjectSkill: async (project: string, name: string) => getProjectSkill(declared, project, name),
    skillFile: async (project: string, name: string) => skillFile(declared, project, name),
    createSkill: async (project: string, body: SkillWrite, by: WriteBy) =>
      createSkill(declared, project, body, by),
    uploadSkill: async (project: string, file: Uint8Array, by: WriteBy) =>
      uploadSkill(declared, project, file, by),
    shareSkill: async (project: string, name: string, by: WriteBy) => shareSkill(declared, project, name, by),
    updateSkill: async (project: string, name: string, body: SkillUpdate, by: WriteBy) =>
      updateSkill(declared, project, name, body, by),
    removeSkill: async (project: string, name: string, by: WriteBy) =>
      removeSkill(declared, project, name, by),
  }
}

/** Projects and their templates. */
function projectCalls({ declared, findings, egress, agentModels, startRun }: CallsParts) {
  const idOf = (word: string) => requireProject(declared, word)
  const installed = offeredConnectors()
  const template = (key: string) =>
    declared.templates.get(key) ?? fail('not_found', `no template has the key ${key}`)
  return {
    listTemplates: async () => ({
      templates: declared.templates
        .all()
        .filter((file) => !file.hidden)
        .map((file) => describeTemplate(file, installed)),
    }),
    getTemplate: async (key: string) => describeTemplate(template(key), installed),
    detectTemplate: async (key: string) =>
      detectTemplate(template(key), {
        env: declared.env,
        sources: () =>
          declared.sources
            .live()
            .map(({ name, connector, config }) => ({ name, connector: connector.kind, config })),
        http: (url) => answers(egress, url),
      }),
    projectId: async (word: string) => idOf(word),
    listProjects: async () => listProjects(declared),
    getProject: async (word: string) => projectNamed(declared, word),
    projectCard: async (word: string) => presentCard(declared.kinds.project.find(idOf(word))!),
    createProject: async (body: ProjectCreate, by: WriteBy) => createProject(declared, body, by),
    updateProject: async (word: string, body: ProjectUpdate, by: WriteBy) =>
      updateProject(declared, word, body, by),
    moveProject: async (word: string, event: 'pause' | 'resume', sources: boolean, by: WriteBy) =>
      moveProject(declared, word, event, sources, by),
    holdProject: async (word: string, event: Holding, by: WriteBy) => holdProject(declared, word, event, by),
    heldProjects: async () => ({ projects: heldProjects(declared) }),
    repairProject: async (word: string, key: string, by: WriteBy) => repairProject(declared, word, key, by),
    wireProject: async (word: string, wiring: Wiring, by: WriteBy) => wireProject(declared, word, wiring, by),
    projectRemoval: async (word: string, picked?: string) => removalOf(declared, word, readPicked(picked)),
    deleteProject: async (
      word: string,
      { purgeEvents, picked }: { purgeEvents: boolean; picked: string | undefined },
      by: WriteBy,
    ) => deleteProject(declared, word, { purgeEvents, picked: readPicked(picked) }, by),
    runProjectAction: async (word: string, name: string, args: Record<string, unknown>, by: WriteBy) =>
      runAction(declared, { egress, startRun }, idOf(word), { name, args, by }),
    projectOutline: async (word: string) => outlineOf(declared, word),
    projectHealth: async (word: string) => projectHealth(declared, word, agentModels().key_configured),
    projectSummary: async (word: string) => summaryOf(declared, findings, idOf(word)),
    projectResults: async (word: string, { limit, ...asked }: ResultsAsked) =>
      listResults(findings, idOf(word), { ...asked, limit: clamp(limit, 100) }),
    projectResult: async (word: string, run: string) => getResult(findings, idOf(word), run),
    findFinding: async (run: string, project?: string) =>
      findFinding(findings, projectsById(declared, project), run),
    markHandled: async (word: string, run: string, handled: boolean, by: string) =>
      declared.store.tx(() => markHandled(findings, idOf(word), run, handled, by)),
    markFinding: async (word: string, run: string, mark: MarkWrite, own: boolean, by: WriteBy) =>
      declared.store.tx(() => {
        const project = idOf(word)
        const marked = markFinding(findings, project, run, mark, { by: by.caller.name, own })
        declared.changes.note(by, project, markWords(marked))
        return marked
      }),
    projectFindings: async (word: string, { limit, ...asked }: FindingsAsked) =>
      listFindings(findings, idOf(word), { ...asked, limit: clamp(limit, 200) }),
    allFindings: async ({ project, since, limit, ...asked }: OfProject<AllFindingsAsked>) =>
      listAllFindings(findings, projectsById(declared, project), {
        ...{ ...asked, limit: clamp(limit, 200) },
        since: since === undefined ? undefined : parseInstant(since, 'since'),
      }),
    recordFinding: async (
      word: string,
      body: FindingCreate,
      writer: string,
      fetcher: Fetcher,
      told: readonly ToldEvent[] = [],
    ) => recordFinding(findings, idOf(word), body, writer, fetcher, told),
    projectToday: async (word: string) => todayOf(findings, idOf(word)),
    createProjectKey: async (word: string, body: KeyCreate, by: WriteBy) => {
      const project = idOf(word)
      const { name } = declared.kinds.project.find(project)!.doc
      if (body.scopes?.includes('findings') ?? true) refuseAgentsName(declared, body.name)
      const created = declared.keys.create({ ...body, project: undefined } as KeyCreate, by.caller, {
        project,
      })
      return { ...created, project, project_name: String(name) }
    },
  }
}

/** Change-sets and the catalog. */
function changeCalls({ declared, catalog }: CallsParts) {
  const { changes } = declared
  return {
    listChangeSets: async ({
      project,
      kind,
      name,
      before,
      limit,
    }: {
      project?: string | undefined
      kind?: string | undefined
      name?: string | undefined
      before?: number | undefined
      limit: number
    }) =>
      changes.list({
        project: project ? requireProject(declared, project) : null,
        kind: kind ? changeKindOf(kind) : null,
        key: name ?? null,
        before: before ?? null,
        limit: clamp(limit, 200),
      }),
    getChangeSet: async (id: number) => changes.get(id),
    applyChangeSet: async (body: ChangeSetCreate, by: WriteBy) => applyOperations(declared, body, by),
    undoChangeSet: async (id: number, dryRun: boolean, by: WriteBy) => {
      const { plan, changeSet } = changes.undo(id, by, dryRun)
      return { change_set: changeSet, plan, version: changes.version() }
    },
    rollBack: async (id: number, how: { project?: string | undefined; dryRun: boolean }, by: WriteBy) =>
      rollBack(declared, id, how, by),
    // Who asks is looked at where these have a thread.
    catalogDrift: async (_asked?: Asked) => catalog.drift(),
    exportCatalog: async (sources?: string[], format: 'yaml' | 'json' = 'yaml', _asked?: Asked) =>
      catalog.render(sources, format),
    updateCatalogFile: async (file: string | CatalogPatch, _asked?: Asked) =>
      catalog.update(typeof file === 'string' ? { yaml: file } : file),
    forgetCatalogFile: async (name: string) => catalog.forget(name),
    checkCatalog: async (body: CatalogCheck, compares = true, _asked?: Asked) =>
      catalog.check(body, compares),
    // Not for doors: what is read of a file is trusted where it is given.
    readCatalogFile: async (body: CatalogImport, _asked?: Asked) => catalog.read(body),
    importCatalog: async (body: CatalogImport, by: WriteBy, read?: CatalogRead) =>
      catalog.import(body, by, read),
    catalogSchema: async () => catalog.schema(),
  }
}

export type DeclaredCalls = ReturnType<typeof partCalls> &
  ReturnType<typeof skillCalls> &
  ReturnType<typeof projectCalls> &
  ReturnType<typeof changeCalls>

/** All of them. */
export function declaredCalls(parts: CallsParts): DeclaredCalls {
  return { ...partCalls(parts), ...skillCalls(parts), ...projectCalls(parts), ...changeCalls(parts) }
}

/** Templates and their parameters are an operator's: they may lead inside the network. The status alone is wanted. */
const OF_OPERATOR = { audience: 'operator', maxResponseBytes: 0 } as const

/** Whether an address answers at all. */
async function answers(egress: CallsParts['egress'], url: string): Promise<boolean> {
  const answer = await egress.send({ ...OF_OPERATOR, url, method: 'GET', timeoutMs: 3_000 })
  return answer.ok && answer.status < 500
}

/*
 * Named actions of template projects (SPEC.md, Projects: actions): an HTTP call the template describes, or
 * a run of one of its agents on an entity.
 */

const TIMEOUT_MS = 10_000

interface ActionParts {
  egress: Pick<Egress, 'send'>
  /** Starts a run of an agent on an entity. @returns its id; null: there is no such agent */
  startRun(agent: string, entity: string, project: string): string | null
}

interface ActionRan {
  ok: true
  action: string
  message: string
  run_id?: string
}

/**
 * @param id project id. @param args as the action's parameters say. @param by who runs it: what was done, and what
 *   was tried and failed, is in the log of the project.
 * @throws SvcError not_found; invalid; upstream when the address cannot be reached or refuses; upstream_slow
 */
async function runAction(
  declared: Declared,
  parts: ActionParts,
  id: string,
  { name, args, by }: { name: string; args: Record<string, unknown>; by: WriteBy },
): Promise<ActionRan> {
  const doc = declared.kinds.project.find(id)!.doc
  const file = declared.templates.get(doc.template)
  if (!file) return fail('not_found', `project ${doc.name} has no action named ${name}`)
  const action = renderAction(
    file,
    name,
    doc.params ?? {},
    args,
    (kind, key) => doc.plan?.[kind]?.[key]?.name,
  )
  if (action.run && doc.paused) refuseEvent('project', doc.name, 'paused', `run its action ${name}`)
  const log = (how: string) => declared.changes.note(by, id, `action ${name}${given(args)}${how}`)
  try {
    const ran = await perform(action, name, id, parts)
    log(`: ${ran.message}`)
    return ran
  } catch (error) {
    // What was asked of another system may have been done there, though no answer said so.
    if (action.request && error instanceof SvcError && error.code.startsWith('upstream'))
      log(` failed: ${error.message.replace(`action ${name}: `, '')}`)
    throw error
  }
}

const GIVEN_MAX = 200

/** The arguments in brackets, such as (scenario: latency); what looks like a secret is taken out. */
function given(args: Record<string, unknown>): string {
  const shown = Object.entries(args).map(([key, value]) => `${key}: ${String(value)}`)
  return shown.length === 0 ? '' : ` (${redact(shown.join(', ')).slice(0, GIVEN_MAX)})`
}

async function perform(
  { request, run }: ReturnType<typeof renderAction>,
  name: string,
  id: string,
  { egress, startRun }: ActionParts,
): Promise<ActionRan> {
  if (run) {
    const run_id =
      startRun(run.agent, run.entity, id) ??
      fail('conflict', `action ${name}: agent ${run.agent} is not there; repair it first`)
    return { ok: true, action: name, message: `${run.agent} looks at ${run.entity}`, run_id }
  }
  if (!request) return fail('conflict', `action ${name} says neither what to call nor whom to run`)
  const status = await send(egress, request)
  if (status >= 300) fail('upstream', `action ${name}: ${new URL(request.url).host} answered ${status}`)
  return { ok: true, action: name, message: `${new URL(request.url).host} answered ${status}` }
}

async function send(
  egress: CallsParts['egress'],
  { method, url, body }: { method: string; url: string; body?: unknown },
): Promise<number> {
  const answer = await egress.send({
    ...OF_OPERATOR,
    ...{ method, url, timeoutMs: TIMEOUT_MS },
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  if (answer.ok) return answer.status
  return fail(
    answer.fault === 'timeout' ? 'upstream_slow' : 'upstream',
    `${URL.canParse(url) ? new URL(url).host : 'the address'} cannot be reached: ${answer.message}`,
  )
}

/* Rolling back the instance, or one project with the parts it uses or used. */

/** @param project id or name; absent: everything. @throws SvcError not_found; invalid; conflict */
function rollBack(
  declared: Declared,
  id: number,
  { project, dryRun }: { project?: string | undefined; dryRun: boolean },
  by: WriteBy,
): ChangeApplied {
  const { changes } = declared
  const key = project === undefined ? null : requireProject(declared, project)
  const isMeant = (edit: Edit) => {
    if (key === null) return () => true
    const then = changes.documentAt('project', key, id) ?? undefined
    const parts = new Set([...partsIn(edit.get('project', key)), ...partsIn(then)])
    return (kind: ChangeKind, other: string) =>
      kind === 'project' ? other === key : parts.has(`${kind}:${other}`)
  }
  const { plan, changeSet } = changes.rollback(id, isMeant, by, dryRun)
  return { change_set: changeSet, plan, version: changes.version() }
}

function partsIn(doc: Doc | undefined): string[] {
  const { uses } = documentOf('project', doc ?? { uses: {} })
  return Object.entries(uses).flatMap(([kind, names]) =>
    Object.keys(names ?? {}).map((name) => `${kind}:${name}`),
  )
}
