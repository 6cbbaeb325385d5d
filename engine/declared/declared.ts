/**
 * The declared side of an instance put together: how each kind is stored, change-sets over them, and
 * what the writes of parts and projects share.
 */
import { forgetAgentTests, renameAgentTests } from '../agents/agent-tests.ts'
import { forgetTools, renameTools } from '../agents/mcp-tools/pins.ts'
import { renameInRuns } from '../agents/runs/queries.ts'
import type { Clock } from '../clock.ts'
import { AGENT_SECRETS } from '../documents/agent.ts'
import { ChangeSets } from '../documents/change-sets.ts'
import { EntityKind } from '../documents/entity.ts'
import { MCP_SERVER_SECRETS, programWarnings, refuseProgram } from '../documents/mcp-server.ts'
import { GuardedKind, type PartTable, SpecPartKind } from '../documents/part-kind.ts'
import { SkillKind } from '../documents/skill.ts'
import { completeEdit } from '../documents/wiring.ts'
import { fail } from '../errors.ts'
import { renameInIncidents } from '../incidents/steps.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { ChangeKind, DeclaredKind, Doc, DocumentOf, Kinds, Staged } from '../model/documents.ts'
import { remadeWarnings } from '../model/plan.ts'
import type { Rename } from '../model/renames.ts'
import type { SecretNames } from '../net/secret-fields.ts'
import { addressFaults, type Secrets, variableFault } from '../net/secrets.ts'
import { renameInOutbox } from '../outbox/subscriptions.ts'
import { SourceKind } from '../sources/source-kind.ts'
import type { Sources } from '../sources/sources.ts'
import { renameInFirings } from '../triggers/queries.ts'
import { type Keys, refuseKeysName } from './access/keys.ts'
import { followDrafts, followEdit } from './projects/follow.ts'
import { warningsOf } from './projects/label-drift.ts'
import { type ProjectQueries, projectQueries, type Templates } from './projects/present.ts'
import { ProjectKind } from './projects/project-kind.ts'

export interface DeclaredParts {
  store: StoreHandle
  clock: Clock
  secrets: Secrets
  keys: Keys
  sources: Sources
  templates: Templates
  /** What `${NAME}` and x-env refer to. */
  env: Readonly<Record<string, string | undefined>>
  /** Marks a source's events for removal. @returns how many there are. */
  purge(sourceId: number): number
  /** A trigger or a project is gone: what was subscribed to it goes too, in the same transaction. */
  gone(of: { trigger: string } | { project: string }, at: number): void
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
    ],
    follow: (_edit, staged, stroke) => {
      for (const { kind, key, stored, doc } of staged)
        if (doc && stored?.was !== undefined && kind !== 'project')
          moveParts(db, { kind, from: stored.was, to: key })
      followEdit(follow, staged, stroke)
      followDrafts(db, staged, stroke)
      for (const { kind, key, doc } of staged) {
        if (doc) continue
        if (kind === 'trigger') parts.gone({ trigger: key }, stroke.at)
        if (kind === 'project') parts.gone({ project: key }, stroke.at)
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

/** What is kept of a part by its name, in its rooms, goes along when it gets another; in the transaction that gives it. */
function moveParts(db: StoreHandle['db'], { kind, from, to }: Rename): void {
  if (kind === 'trigger') {
    renameInFirings(db, to)
    renameInIncidents(db, to)
  }
  if (kind === 'trigger' || kind === 'agent') {
    renameInRuns(db, { kind, from, to })
    renameInOutbox(db, { kind, from, to })
  }
  if (kind === 'agent') renameAgentTests(db, from, to)
  if (kind === 'mcp_server') renameTools(db, from, to)
}

/* Variables of the environment in documents that are written: only those that may be opened, and none in an address. */

/**
 * A reference that stays as it is, to the same host, passes: it is refused where it is used, and an edit of
 * another field must not wait for it. So does what is brought back as it was.
 * @throws SvcError invalid, naming the field, the variable and the rule
 */
export function refuseVariables(
  { kind, stored, doc, revive }: Pick<Staged, 'kind' | 'stored' | 'doc' | 'revive'>,
  kinds: Kinds,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const of = kinds[kind]
  if (!doc || revive !== null) return
  const stays = stored ? of.addresses?.(stored.doc) : undefined
  for (const { field, fault } of addressFaults(of.addresses?.(doc) ?? {}))
    if (stays?.[field] !== of.addresses?.(doc)[field]) fail('invalid', `${field}: ${fault}`, { field })
  if (!of.variables) return
  const before = stored ? of.variables(stored.doc) : []
  for (const { field, variable, host } of of.variables(doc)) {
    const isAsBefore = before.some(
      (use) => use.field === field && use.variable === variable && use.host === host,
    )
    const fault = isAsBefore ? null : variableFault(variable, env)
    if (fault !== null) fail('invalid', `${field}: ${fault}`, { field })
  }
}
