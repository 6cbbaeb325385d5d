/**
 * What follows from an edit beside the documents, in the same transaction: who uses what, the
 * objects of templates' plans and their ownership, how many projects use a skill.
 */

import type { Plan } from '../../../schemas/types.ts'
import { advance, carryOut, type Executors, firstSnapshot, move } from '../../log/lifecycle.ts'
import type { Database } from '../../log/store/handle.ts'
import {
  type Doc,
  documentOf,
  equal,
  isPart,
  type PartKind,
  partKinds,
  type Staged,
  type Stroke,
} from '../../model/documents.ts'
import type { Planned, ProjectDoc } from '../../model/project.ts'
import type { PlannedRow, ProjectQueries } from './present.ts'
import { digestOf, secretsOf } from './project-spec.ts'

interface FollowParts {
  db: Database
  queries: ProjectQueries
  /** Fields of a kind that are secret, anywhere in its document. */
  mask(kind: PartKind, doc: Doc): Doc
  /** As mask, with addresses as they are (`DeclaredKind.maskFields`). */
  maskFields(kind: PartKind, doc: Doc): Doc
  /** A keyed hash of a text, as of the plan. */
  fingerprint(text: string): string
  /** Moves a skill by its machine. */
  moveSkill(name: string, event: 'use' | 'remove', stroke: Stroke): void
  /** Revokes the keys of a project that is deleted. */
  revokeKeys(project: string, stroke: Stroke): void
}

export function followEdit(parts: FollowParts, staged: readonly Staged[], stroke: Stroke): void {
  const skillUsers = new Map<string, number>()
  for (const entry of staged) if (entry.kind === 'project') followProject(parts, entry, stroke, skillUsers)
  // One that got another name has the users it had.
  for (const { kind, key, stored } of staged) {
    const was = kind === 'skill' ? stored?.was : undefined
    const left = was === undefined ? undefined : skillUsers.get(was)
    if (was === undefined || left === undefined) continue
    skillUsers.delete(was)
    skillUsers.set(key, (skillUsers.get(key) ?? 0) + left)
  }
  followSkills(parts, staged, skillUsers, stroke)
  followOwnership(parts, staged, stroke)
}

function followProject(
  parts: FollowParts,
  { key, stored, doc }: Staged,
  stroke: Stroke,
  skillUsers: Map<string, number>,
): void {
  const before = documentOf('project', stored?.doc ?? { uses: {} })
  const after = documentOf('project', doc ?? { uses: {} })
  for (const kind of partKinds) {
    const [was, is] = [before.uses[kind] ?? {}, after.uses[kind] ?? {}]
    for (const name of Object.keys(was))
      if (!is[name]) {
        parts.queries.dropUse(key, kind, name)
        if (kind === 'skill') skillUsers.set(name, (skillUsers.get(name) ?? 0) - 1)
      }
    for (const name of Object.keys(is))
      if (!was[name]) {
        parts.queries.addUse(key, kind, name)
        if (kind === 'skill') skillUsers.set(name, (skillUsers.get(name) ?? 0) + 1)
      }
  }
  syncPlan(parts, key, after.plan ?? {}, stroke)
  // A project that is a draft again has nothing that a key could read.
  if (!doc || (after.draft && !before.draft)) parts.revokeKeys(key, stroke)
}

function syncPlan(
  parts: FollowParts,
  project: string,
  plan: NonNullable<ProjectDoc['plan']>,
  stroke: Stroke,
): void {
  const rows = new Map(parts.queries.plannedOf(project).map((row) => [`${row.kind}:${row.key}`, row]))
  for (const kind of partKinds)
    for (const [key, planned] of Object.entries(plan[kind] ?? {})) {
      const row = rows.get(`${kind}:${key}`)
      rows.delete(`${kind}:${key}`)
      const json = JSON.stringify(planned)
      if (!row) insertPlanned(parts, project, kind, key, planned, stroke)
      else if (row.plan !== json) parts.queries.updatePlanned(row.id, planned.name, json)
    }
  for (const row of rows.values()) parts.queries.dropPlanned(row.id)
}

function insertPlanned(
  parts: FollowParts,
  project: string,
  kind: PartKind,
  key: string,
  planned: Planned,
  stroke: Stroke,
): void {
  const id = parts.queries.insertPlanned({
    project,
    kind,
    key,
    name: planned.name,
    plan: JSON.stringify(planned),
    snapshot: firstSnapshot('ownership'),
    at: stroke.at,
  })
  moveOwnership(parts.db, { id, kind, name: planned.name }, planned.adopted ? 'adopt' : 'plan', stroke)
}

/** A skill counts its users; made in this edit it already counts one. */
function followSkills(
  parts: FollowParts,
  staged: readonly Staged[],
  users: ReadonlyMap<string, number>,
  stroke: Stroke,
): void {
  const gone = new Set(staged.filter(({ kind, doc }) => kind === 'skill' && !doc).map(({ key }) => key))
  const made = new Set(staged.filter(({ kind, stored }) => kind === 'skill' && !stored).map(({ key }) => key))
  for (const [name, change] of users) {
    // Its last removal deleted it, in the adapter.
    if (gone.has(name)) continue
    const net = made.has(name) ? change - 1 : change
    for (let n = 0; n < net; n++) parts.moveSkill(name, 'use', stroke)
    for (let n = 0; n > net; n--) parts.moveSkill(name, 'remove', stroke)
  }
}

/** Hand edits and deletes of planned objects (SPEC.md, Ownership of template-project objects). */
function followOwnership(parts: FollowParts, staged: readonly Staged[], stroke: Stroke): void {
  for (const entry of staged) {
    const { kind, key, stored, doc } = entry
    if (!isPart(kind)) continue
    // A rename alone is no edit of what was planned.
    if (stored?.was !== undefined && doc && equal(stored.doc, doc)) continue
    for (const row of parts.queries.plannedNamed(kind, key)) {
      // One of its name that is made elsewhere is not the one that is missing.
      if (row.state === 'missing' && !parts.queries.users(kind, key).includes(row.project)) continue
      const planned = JSON.parse(row.plan) as Planned
      const before = row.state === 'planned' ? stored?.doc : doc
      // A plan of a release that knew no secrets in addresses was digested with them as they are.
      const masks = [parts.mask, parts.maskFields].map((mask) => (of: Doc) => mask(kind, of))
      const isAsPlanned =
        doc !== null && masks.some((mask) => matches(planned, doc, before, mask, parts.fingerprint))
      const event = ownershipEvent(row, doc !== null, isAsPlanned, planned.adopted === true)
      if (event) moveOwnership(parts.db, { id: row.id, kind, name: row.name }, event, stroke)
    }
  }
}

/** @param before the document whose secrets count where a plan of an older release does not say its own. */
function matches(
  { digest, secrets }: Planned,
  doc: Doc,
  before: Doc | null | undefined,
  mask: (of: Doc) => Doc,
  fingerprint: FollowParts['fingerprint'],
): boolean {
  if (digestOf(mask(doc)) !== digest) return false
  const secretsIn = (of: Doc | null | undefined) => (of ? secretsOf(of, mask(of), fingerprint) : undefined)
  const now = secretsIn(doc)
  if (secrets !== undefined) return now === secrets
  // One that a hand took out is missed by the digest already.
  return !now || now === secretsIn(before)
}

function ownershipEvent(
  { state }: PlannedRow,
  exists: boolean,
  isAsPlanned: boolean,
  adopted: boolean,
): string | null {
  if (!exists) return state === 'missing' ? null : 'delete'
  // A repair makes it the plan's own; what was adopted comes back as what it was.
  if (state === 'missing') return isAsPlanned && !adopted ? 'repair' : 'restore'
  if (state === 'planned') return isAsPlanned ? null : 'edit'
  if (state === 'customized') return isAsPlanned ? 'match' : null
  return null
}

function moveOwnership(
  db: Database,
  { id, kind, name }: { id: number; kind: string; name: string },
  event: string,
  { by, at }: Stroke,
): void {
  advance(db, { kind: 'ownership', id, name: `${kind}:${name}` }, event, by, at)
}

/* What follows for a draft from an edit of its project, in the same transaction. */

/** A draft is applied, deleted or brought back with its project; undoing an apply makes it a draft again. */
export function followDrafts(db: Database, staged: readonly Staged[], { at }: Stroke): void {
  const queries = setupQueries(db)
  for (const { kind, key, stored, doc } of staged)
    if (doc && stored?.was !== undefined && isPart(kind))
      renameInPlans(queries, { kind, from: stored.was, to: key })
  for (const { kind, key, stored, doc, revive } of staged) {
    if (kind !== 'project' || !queries.byId(key)) continue
    const event = eventOf(stored?.doc.draft === true, doc && doc.draft === true, revive !== null)
    if (!event) continue
    moveDraft(db, { id: key, name: String((doc ?? stored!.doc).name) }, { type: event }, at)
  }
}

interface PartRename {
  kind: PartKind
  from: string
  to: string
}

/** Plans speak of parts by their names of now: what a set-up project uses, and what a draft is to use that is there. */
function renameInPlans(queries: SetupQueries, rename: PartRename): void {
  const { kind, to } = rename
  for (const { id, plan: text, who, state } of queries.plans.all()) {
    if (state === 'applied' && !queries.uses(id, kind, to)) continue
    const plan = JSON.stringify(planWith(JSON.parse(text) as Plan, rename, state !== 'applied'))
    if (plan !== text) queries.savePlan(id, plan, who)
  }
}

const CARDS = {
  source: 'watches',
  trigger: 'wakes',
  agent: 'agents',
  mcp_server: 'tools',
  skill: 'skills',
} as const

/** @param isDraft then only parts that exist already are renamed in it: the others are not made yet */
function planWith(plan: Plan, { kind, from, to }: PartRename, isDraft: boolean): Plan {
  const card: { name: string; existing?: boolean }[] = plan[CARDS[kind]]
  if (!card.some((one) => one.name === from && (!isDraft || one.existing === true))) return plan
  const now = (name: string) => (name === from ? to : name)
  const named = { ...plan, [CARDS[kind]]: card.map((one) => ({ ...one, name: now(one.name) })) }
  const { wakes, agents } = named
  if (kind === 'source')
    return { ...named, wakes: wakes.map((wake) => ({ ...wake, sources: wake.sources.map(now) })) }
  const agentsWith = (change: (agent: Plan['agents'][number]) => object) => ({
    ...named,
    agents: agents.map((agent) => ({ ...agent, ...change(agent) })),
  })
  if (kind === 'trigger') return agentsWith(({ trigger }) => ({ trigger: now(trigger) }))
  if (kind === 'mcp_server') return agentsWith(({ mcp_servers }) => ({ mcp_servers: mcp_servers.map(now) }))
  if (kind !== 'agent') return named
  const handed = ({ handoffs }: Plan['agents'][number]) =>
    handoffs.map((handoff) => ({ ...handoff, agent: now(handoff.agent) }))
  return agentsWith((agent) => ({ handoffs: handed(agent) }))
}

/** @param is whether it is a draft afterwards; null: it is gone. */
function eventOf(was: boolean, is: boolean | null, isRevived: boolean): string | null {
  if (isRevived) return is ? 'restore' : null
  if (was && is === null) return 'discard'
  if (was && !is) return 'apply'
  return !was && is ? 'unapply' : null
}

/* The SQL of guided setup. */

export interface SetupRow {
  id: string
  who: 'svc' | 'own'
  named: number
  instruction: string | null
  plan: string | null
  attempt: number
  claimed: number
  error: string | null
  no_provider: number
  own_key: string | null
  practised_at: number | null
  practice_run: string | null
  practice_dispatch: string | null
  practice_found: string | null
  snapshot: string
  state: string
  /** It grows with each move of the draft, and so with each plan that is kept. */
  version: number
}

interface StepRow {
  n: number
  text: string
  state: 'running' | 'done' | 'stopped'
  at: number
}

/** States in which a plan is being written. */
export const PLANNING = ['reading', 'looking', 'writing', 'checking', 'fixing']

type SetupQueries = ReturnType<typeof prepare>

const prepared = new WeakMap<Database, SetupQueries>()

/** The statements of a connection, prepared once. */
export function setupQueries(db: Database): SetupQueries {
  const known = prepared.get(db) ?? prepare(db)
  prepared.set(db, known)
  return known
}

function prepare(db: Database) {
  const insert = db.prepare(
    `INSERT INTO setups (id, who, named, attempt, claimed, snapshot) VALUES (?, ?, ?, 1, 0, ?)`,
  )
  const byId = db.prepare<[string], SetupRow>('SELECT * FROM setups WHERE id = ?')
  const planning = db.prepare<[], SetupRow>(
    `SELECT * FROM setups WHERE state IN (${PLANNING.map((state) => `'${state}'`).join(', ')}) ORDER BY rowid`,
  )
  const plans = db.prepare<[], SetupRow & { plan: string }>('SELECT * FROM setups WHERE plan IS NOT NULL')
  const uses = db.prepare('SELECT 1 FROM project_uses WHERE project = ? AND kind = ? AND name = ?')
  const savePlan = db.prepare('UPDATE setups SET plan = ?, who = ? WHERE id = ?')
  const again = db.prepare(
    `UPDATE setups SET who = ?, instruction = ?, attempt = attempt + 1, error = NULL, no_provider = 0 WHERE id = ?`,
  )
  const claim = db.prepare('UPDATE setups SET claimed = attempt WHERE id = ?')
  const fault = db.prepare('UPDATE setups SET error = ?, no_provider = ? WHERE id = ?')
  const dropSteps = db.prepare('DELETE FROM setup_steps WHERE setup = ?')
  const endSteps = db.prepare("UPDATE setup_steps SET state = ? WHERE setup = ? AND state = 'running'")
  const addStep = db.prepare(
    `INSERT INTO setup_steps (setup, n, text, state, at)
     VALUES (?, (SELECT coalesce(max(n), 0) + 1 FROM setup_steps WHERE setup = ?), ?, 'running', ?)`,
  )
  const retell = db.prepare("UPDATE setup_steps SET text = ? WHERE setup = ? AND state = 'running'")
  const running = db
    .prepare<[string], string>("SELECT text FROM setup_steps WHERE setup = ? AND state = 'running'")
    .pluck()
  const ownKey = db.prepare('UPDATE setups SET own_key = ? WHERE id = ?')
  const practised = db.prepare(
    'UPDATE setups SET practised_at = ?, practice_run = ?, practice_dispatch = ?, practice_found = NULL WHERE id = ?',
  )
  const found = db.prepare('UPDATE setups SET practice_found = ? WHERE id = ?')
  return {
    insert: (id: string, who: string, isNamed: boolean) =>
      insert.run(id, who, isNamed ? 1 : 0, firstSnapshot('draft')),
    byId: (id: string) => byId.get(id),
    /** Whether a project uses a part. */
    uses: (id: string, kind: PartKind, name: string) => uses.get(id, kind, name) !== undefined,
    /** Those that have a plan. */
    plans,
    planning: () => planning.all(),
    savePlan: (id: string, plan: string, who: string) => savePlan.run(plan, who, id),
    again: (id: string, who: string, instruction: string | null) => again.run(who, instruction, id),
    claim: (id: string) => claim.run(id),
    fault: (id: string, error: string | null, noProvider: boolean) =>
      fault.run(error, noProvider ? 1 : 0, id),
    dropSteps: (id: string) => dropSteps.run(id),
    /** What was under way is done, or was stopped. */
    endSteps: (id: string, state: 'done' | 'stopped') => endSteps.run(state, id),
    addStep: (id: string, text: string, at: number) => addStep.run(id, id, text, at),
    /** Says of the sub-step under way what it came to. */
    retell: (id: string, text: string) => retell.run(text, id),
    /** What the sub-step under way says. */
    running: (id: string) => running.get(id),
    steps: db.prepare<[string], StepRow>(
      'SELECT n, text, state, at FROM setup_steps WHERE setup = ? ORDER BY n',
    ),
    ownKey: (id: string, key: string | null) => ownKey.run(key, id),
    practised: (id: string, at: number, run: string | null, dispatch: string | null) =>
      practised.run(at, run, dispatch, id),
    found: (id: string, run: string) => found.run(run, id),
  }
}

type Moved = { queries: SetupQueries; id: string; at: number }

/** What each effect of the machine of a draft writes. */
export const draftEffects: Executors<Moved> = {
  begin_again: ({ queries, id }, { who, instruction }: { who: string; instruction: string | null }) => {
    queries.again(id, who, instruction)
    queries.dropSteps(id)
  },
  show_step: (moved, { text }: { text: string }) => showStep(moved, text),
  end_steps: ({ queries, id }, { as }: { as: 'done' | 'stopped' }) => queries.endSteps(id, as),
  note_fault: ({ queries, id }, fault: { reason: string | null; no_provider: boolean }) =>
    queries.fault(id, fault.reason, fault.no_provider),
  forget_key: ({ queries, id }) => queries.ownKey(id, null),
}

/** A sub-step begins, and the one before it is done. */
export function showStep({ queries, id, at }: Moved, text: string): void {
  queries.endSteps(id, 'done')
  queries.addStep(id, text, at)
}

/** Moves the draft of a project by its machine, with what that asks for. @throws SvcError wrong_state */
export function moveDraft(
  db: Database,
  { id, name }: { id: string; name: string },
  event: { type: string; [key: string]: unknown },
  at: number,
): void {
  const { effects } = move(db, { kind: 'draft', id, name }, { ...event, at })
  carryOut('draft', draftEffects, effects, { queries: setupQueries(db), id, at })
}
