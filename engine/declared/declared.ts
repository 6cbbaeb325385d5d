/**
 * The declared side of an instance put together: how each kind is stored, change-sets over them, and
 * what the writes of parts and projects share.
 */

import { forgetAgentTests } from '../agent-tests/queries.ts'
import { ChangeSets } from '../changes/change-sets.ts'
import type { ChangeKind, DeclaredKind, Doc, DocumentOf, Kinds } from '../changes/declared.ts'
import { GuardedKind } from '../changes/guarded-kind.ts'
import type { Clock } from '../clock.ts'
import type { Keys } from '../keys/keys.ts'
import { forgetTools } from '../mcp-tools/rows.ts'
import { AGENT_SECRETS } from '../parts/agent-spec.ts'
import { MCP_SERVER_SECRETS } from '../parts/mcp-server-spec.ts'
import { PartKind } from '../parts/part-kind.ts'
import type { PartTable } from '../parts/rows.ts'
import type { SecretNames } from '../parts/secret-fields.ts'
import { followEdit } from '../projects/follow.ts'
import { ProjectKind } from '../projects/project-kind.ts'
import { type ProjectQueries, projectQueries } from '../projects/queries.ts'
import type { Templates } from '../projects/templates.ts'
import type { Secrets } from '../secrets.ts'
import { followDrafts } from '../setup/follow.ts'
import { SkillKind } from '../skills/skill-kind.ts'
import { SourceKind } from '../sources/source-kind.ts'
import type { Sources } from '../sources/sources.ts'
import type { StoreHandle } from '../store/handle.ts'
import { completeEdit } from '../wiring/complete.ts'
import { refuseKeysName } from './agent-names.ts'
import { warningsOf } from './label-drift.ts'
import { refuseVariables } from './variables.ts'

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
  ) => new PartKind({ db, secrets, kind, table, secretNames, sentTo, pausable: kind === 'trigger' })
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
      for (const staged of edit.touched()) refuseVariables(staged, kinds, parts.env)
    },
    projectsOf: (kind, key) => projects.users(kind, key),
    warn: (edit, touched) => warningsOf(sources, edit, touched),
    follow: (_edit, staged, stroke) => {
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
